//! Enforces the order of the crates: each may use only those below it. Compares manifests and `use` lines.

use std::fs;
use std::path::{Path, PathBuf};

/// Each crate with the workspace crates that it may use, dev-dependencies included.
const MAY_USE: [(&str, &[&str]); 17] = [
    ("core", &[]),
    ("world", &["core"]),
    ("wire", &["core"]),
    ("engine", &["core", "world"]),
    ("language", &["core"]),
    ("check", &["core", "language"]),
    ("codegen", &["core", "language", "check"]),
    ("runtime", &["core", "language", "check"]),
    ("aws", &["core"]),
    ("live", &["core", "language", "runtime"]),
    ("flow", &["core", "world", "language", "runtime"]),
    ("transfer", &["core", "wire", "engine", "language", "check", "runtime", "live"]),
    ("prove", &["core", "engine", "language", "check", "runtime"]),
    ("server", &["core", "world", "wire", "language", "check", "runtime", "live", "flow"]),
    ("macros", &["language", "check", "codegen"]),
    (
        "keyform",
        &["core", "world", "engine", "language", "check", "runtime", "aws", "live", "flow", "server", "macros"],
    ),
    (
        "cli",
        &[
            "core", "world", "engine", "language", "check", "codegen", "runtime", "live", "transfer", "prove",
            "server", "keyform",
        ],
    ),
];

fn crates_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the crate's name in `use` lines.
fn module_name(name: &str) -> String {
    if name == "keyform" { name.to_owned() } else { format!("keyform_{name}") }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// Returns the workspace crates that a source file names in paths.
fn used_in(text: &str, names: &[&str]) -> Vec<String> {
    let names_in_code = |name: &&&str| {
        let path = format!("{}::", module_name(name));
        text.lines().filter(|line| !line.trim_start().starts_with("//")).any(|line| {
            line.match_indices(&path).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let in_text = line[..at].matches('"').count() % 2 == 1;
                let in_name =
                    before.is_some_and(|character| character.is_alphanumeric() || character == '_' || character == ':');
                !in_text && !in_name
            })
        })
    };
    names.iter().filter(names_in_code).map(|name| (*name).to_owned()).collect()
}

#[test]
fn source_files_use_only_crates_below_their_own() {
    let names: Vec<&str> = MAY_USE.iter().map(|(name, _)| *name).collect();
    for (name, allowed) in MAY_USE {
        // Generated code names crates in multi-line strings; the manifest shows the generator's own dependencies.
        if name == "codegen" {
            continue;
        }
        for file in rust_files(&crates_folder().join(name).join("src")) {
            let text = fs::read_to_string(&file).expect("a source file can be read");
            for used in used_in(&text, &names) {
                let itself = used == name;
                assert!(itself || allowed.contains(&used.as_str()), "{} uses {used}", file.display());
            }
        }
    }
}

/// The example systems are ordinary applications: they use only the library. Their tests may also do what an operator
/// does, such as a migration.
#[test]
fn systems_use_nothing_but_the_library() {
    let systems = crates_folder().join("../systems");
    for system in fs::read_dir(systems).expect("the systems are there") {
        let system = system.expect("a folder can be listed").path();
        let manifest = fs::read_to_string(system.join("Cargo.toml")).expect("a manifest can be read");
        for line in section(&manifest, "dependencies").lines().filter(|line| line.starts_with("keyform")) {
            let package = line.split(['.', ' ', '=']).next().unwrap_or_default();
            assert!(package == "keyform", "{} depends on {package}", system.display());
        }
    }
}

#[test]
fn manifests_depend_only_on_crates_below() {
    for (name, allowed) in MAY_USE {
        for used in depended_on(name, "dependencies") {
            assert!(allowed.contains(&used), "{name} depends on {used}");
        }
    }
}

/// The tests of a crate may use any crate before it in the order, for example a store to run on.
#[test]
fn tests_depend_only_on_crates_before_their_own() {
    for (number, (name, _)) in MAY_USE.iter().enumerate() {
        let before: Vec<&str> = MAY_USE[..number].iter().map(|(name, _)| *name).collect();
        for used in depended_on(name, "dev-dependencies") {
            // A crate depends on itself to enable its own `testing` feature.
            assert!(used == *name || before.contains(&used), "the tests of {name} depend on {used}");
        }
    }
}

/// The command must hold neither test doubles nor test tools: features of a dependency apply to the whole build.
#[test]
fn test_doubles_are_only_in_dev_dependencies() {
    let root = crates_folder().join("..");
    for folder in ["crates", "systems"] {
        for member in fs::read_dir(root.join(folder)).expect("a folder can be listed") {
            let member = member.expect("a folder can be listed").path();
            let manifest = fs::read_to_string(member.join("Cargo.toml")).expect("a manifest can be read");
            let production = section(&manifest, "dependencies");
            for word in ["\"testing\"", "keyform-scenario", "keyform-driver"] {
                assert!(!production.contains(word), "{} has {word} in [dependencies]", member.display());
            }
        }
    }
}

/// Returns a section of a manifest, empty if it has none.
fn section<'a>(manifest: &'a str, heading: &str) -> &'a str {
    let rest = manifest.split_once(&format!("\n[{heading}]\n")).map_or("", |(_, rest)| rest);
    rest.split("\n[").next().unwrap_or_default()
}

/// Returns the workspace crates in a section of a manifest.
fn depended_on(name: &str, heading: &str) -> Vec<&'static str> {
    let manifest = fs::read_to_string(crates_folder().join(name).join("Cargo.toml")).expect("a manifest can be read");
    let packages = section(&manifest, heading).lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    packages
        .filter_map(|package| MAY_USE.iter().map(|(name, _)| *name).find(|name| package_name(name) == package))
        .collect()
}

fn package_name(name: &str) -> String {
    if name == "keyform" { name.to_owned() } else { format!("keyform-{name}") }
}
