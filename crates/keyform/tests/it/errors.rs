//! Rules for the errors of the libraries, checked on their sources: an error that holds a cause returns it, and no
//! message names a flag, because a program that embeds the library has none. The command adds the flag
//! (`crates/cli/src/advice.rs`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Fields, GenericArgument, ImplItem, Item, PathArguments, Type};

const LIBRARIES: [&str; 13] = [
    "core", "wire", "engine", "language", "codegen", "runtime", "aws", "live", "flow", "transfer", "server", "macros",
    "keyform",
];

/// Literals that may hold a flag, with the reason.
const FLAGS_ALLOWED: [(&str, &str); 1] =
    [("language/src/explain/command.rs", "prints a request as a command of the AWS CLI, with its flags")];

fn crates_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a source folder can be listed");
    let paths = entries.map(|entry| entry.expect("a source folder can be listed").path());
    let files = paths.flat_map(|path| match path.is_dir() {
        true => rust_files(&path),
        false => vec![path],
    });
    files.filter(|file| file.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// Returns the source files of a library, each with its path from the folder of the crates.
fn sources(library: &str) -> Vec<(String, String)> {
    let folder = crates_folder();
    let files = rust_files(&folder.join(library).join("src")).into_iter().map(|file| {
        let name = file.strip_prefix(&folder).expect("the file is below the folder").display().to_string();
        (name, fs::read_to_string(&file).expect("a source file can be read"))
    });
    files.collect()
}

/// Adds the string literals of a file with their lines. Attributes are left out, and with them the documentation.
fn literals(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let mut trees = tokens.into_iter().peekable();
    while let Some(tree) = trees.next() {
        match tree {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                trees.next_if(|next| matches!(next, TokenTree::Punct(mark) if mark.as_char() == '!'));
                trees
                    .next_if(|next| matches!(next, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket));
            }
            TokenTree::Group(group) => literals(group.stream(), found),
            TokenTree::Literal(literal) => found.push((literal.span().start().line, literal.to_string())),
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Returns whether a literal has two hyphens and a letter where a word begins.
fn names_a_flag(literal: &str) -> bool {
    literal.match_indices("--").any(|(at, _)| {
        let before = literal[..at].chars().next_back();
        let begins = before.is_none_or(|character| character.is_whitespace() || "\"`'(".contains(character));
        begins && literal[at + 2..].starts_with(|character: char| character.is_ascii_lowercase())
    })
}

#[test]
fn messages_of_libraries_name_no_flag() {
    let mut found = Vec::new();
    for (file, text) in LIBRARIES.iter().flat_map(|library| sources(library)) {
        if FLAGS_ALLOWED.iter().any(|(allowed, _)| file.ends_with(allowed)) {
            continue;
        }
        let tokens: TokenStream = text.parse().expect("a source file has tokens");
        let mut its = Vec::new();
        literals(tokens, &mut its);
        let flags = its.into_iter().filter(|(_, literal)| names_a_flag(literal));
        found.extend(flags.map(|(line, literal)| format!("{file}:{line}: {literal}")));
    }
    assert!(found.is_empty(), "move the flag to crates/cli/src/advice.rs:\n{}", found.join("\n"));
}

#[test]
fn flags_are_told_from_other_hyphens() {
    for (literal, expected) in [
        ("\"pass --data\"", true),
        ("\"--set NAME\"", true),
        ("\"`--destroy T`\"", true),
        ("\"a -- b\"", false),
        ("\"-----BEGIN\"", false),
        ("\"{one}--o{ \"", false),
    ] {
        assert_eq!(names_a_flag(literal), expected, "{literal}");
    }
}

/// Types of a library that matter for causes.
#[derive(Default)]
struct Errors {
    /// Names of the types in the fields of every struct and enum.
    held: BTreeMap<String, Vec<String>>,
    /// Types that implement `Error`, and whether with a `source`.
    returning: BTreeMap<String, bool>,
}

impl Errors {
    fn add(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Struct(its) => self.hold(its.ident.to_string(), [&its.fields].into_iter()),
                Item::Enum(its) => {
                    self.hold(its.ident.to_string(), its.variants.iter().map(|variant| &variant.fields));
                }
                Item::Mod(its) => self.add(its.content.as_ref().map_or(&[], |(_, items)| items)),
                Item::Impl(its) => {
                    let is_error = its.trait_.as_ref().is_some_and(|(_, path, _)| is_named(path, "Error"));
                    if let (true, Type::Path(of)) = (is_error, &*its.self_ty) {
                        let is_source =
                            |item: &ImplItem| matches!(item, ImplItem::Fn(its) if its.sig.ident == "source");
                        self.returning.insert(last(&of.path), its.items.iter().any(is_source));
                    }
                }
                _ => {}
            }
        }
    }

    fn hold<'a>(&mut self, name: String, fields: impl Iterator<Item = &'a Fields>) {
        let mut held = Vec::new();
        fields.flatten().for_each(|field| type_names(&field.ty, &mut held));
        self.held.insert(name, held);
    }
}

fn last(path: &syn::Path) -> String {
    path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

fn is_named(path: &syn::Path, name: &str) -> bool {
    path.segments.last().is_some_and(|segment| segment.ident == name)
}

/// Adds the last segment of every path in a type, such as `Box` and `Error` for `Box<dyn Error>`.
fn type_names(of: &Type, found: &mut Vec<String>) {
    match of {
        Type::Path(its) => {
            found.push(last(&its.path));
            for segment in &its.path.segments {
                let PathArguments::AngleBracketed(arguments) = &segment.arguments else { continue };
                for argument in &arguments.args {
                    if let GenericArgument::Type(inner) = argument {
                        type_names(inner, found);
                    }
                }
            }
        }
        Type::Reference(its) => type_names(&its.elem, found),
        Type::TraitObject(its) => {
            let bounds = its.bounds.iter().filter_map(|bound| match bound {
                syn::TypeParamBound::Trait(bound) => Some(last(&bound.path)),
                _ => None,
            });
            found.extend(bounds);
        }
        _ => {}
    }
}

#[test]
fn errors_return_the_causes_that_they_hold() {
    let mut silent = Vec::new();
    for library in LIBRARIES {
        let mut errors = Errors::default();
        for (file, text) in sources(library) {
            let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
            errors.add(&parsed.items);
        }
        for (name, _) in errors.returning.iter().filter(|(_, has_source)| !**has_source) {
            let held = errors.held.get(name).into_iter().flatten();
            silent.extend(held.filter(|held| held.ends_with("Error")).map(|held| format!("{library}: {name}: {held}")));
        }
    }
    assert!(silent.is_empty(), "these hold a cause and have no `source`:\n{}", silent.join("\n"));
}
