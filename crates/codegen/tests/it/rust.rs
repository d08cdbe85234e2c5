//! Generated Rust is formatted as rustfmt does, for the five example systems and for random models.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use keyform_check::Checked;
use keyform_codegen::{self as generate, CodegenSettings};

fn printed(source: &str) -> String {
    let checked = Checked::read(source);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    (generate::target("rust").unwrap().print)(&checked, &CodegenSettings::default()).unwrap()
}

/// Formats the code with rustfmt's default settings.
fn formatted(code: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config", "max_width=100,use_small_heuristics=Default"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = rustfmt.stdin.take().unwrap();
    let code = code.to_owned();
    let writer = std::thread::spawn(move || input.write_all(code.as_bytes()));
    let output = rustfmt.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "rustfmt refuses the code");
    String::from_utf8(output.stdout).unwrap()
}

fn check_layout(source: &str, name: &str) {
    let code = printed(source);
    let expected = formatted(&code);
    let difference = code.lines().zip(expected.lines()).position(|(one, other)| one != other);
    if let Some(at) = difference {
        let part = |text: &str| text.lines().skip(at.saturating_sub(2)).take(8).collect::<Vec<_>>().join("\n");
        panic!("{name} is not laid out as by rustfmt\n--- printed\n{}\n--- rustfmt\n{}", part(&code), part(&expected));
    }
    assert_eq!(code.lines().count(), expected.lines().count(), "{name}");
}

fn models(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("literal") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "kf") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn printed_code_is_laid_out_as_by_rustfmt() {
    let all =
        [models("../../systems"), models("../../examples"), models("../check/tests/unseen"), models("tests/rust")]
            .concat();
    assert!(all.len() >= 10, "{all:?}");
    for path in all {
        check_layout(&fs::read_to_string(&path).unwrap(), &path.display().to_string());
    }
}

/// Random numbers from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).unwrap()
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

const ENTITIES: [&str; 16] = [
    "User",
    "user",
    "USER",
    "Option",
    "Result",
    "Vec",
    "Self",
    "Caller",
    "Change",
    "Entity",
    "Model",
    "type",
    "Größe",
    "HTTPServer",
    "UserId",
    "Random",
];
const FIELDS: [&str; 20] = [
    "type",
    "self",
    "crate",
    "userId",
    "user_id",
    "UserID",
    "async",
    "name",
    "größe",
    "`by-status`",
    "`2fa`",
    "call",
    "input",
    "parts",
    "r",
    "None",
    "Ok",
    "String",
    "await",
    "id",
];
const TYPES: [&str; 22] = [
    "string",
    "string(1..32)",
    "slug(1..20)",
    "int",
    "number",
    "bool",
    "binary",
    "ulid",
    "uuid",
    "email",
    "url",
    "timestamp",
    "epoch",
    "epoch_ms",
    "date",
    "money",
    "\"a\" | \"b\" | \"type\" | \"Self\" | \"self\" | \"a b\"",
    "list<{ type: int, self: \"x\" | \"y\" }>",
    "map<set<ulid>>",
    "set<number>",
    "json",
    "{ fn: string, inner: { deep: list<map<int>>? }? }",
];

/// Generates a model with random names and types, a read of each kind and some writes for each entity.
fn random(dice: &mut Dice) -> String {
    let mut text =
        "model random\n\ncaller who: ulid\n\ntable T {\n  key pk, sk\n  tag kind\n  stream new_and_old\n}\n".to_owned();
    let mut entities: Vec<&str> = Vec::new();
    for _ in 0..1 + dice.roll(4) {
        let entity = dice.pick(&ENTITIES);
        if !entities.contains(&entity) {
            entities.push(entity);
            text.push_str(&random_entity(dice, entity, entities.len()));
        }
    }
    text
}

fn random_entity(dice: &mut Dice, entity: &str, number: usize) -> String {
    let mut fields: Vec<&str> = Vec::new();
    for _ in 0..2 + dice.roll(6) {
        let field = dice.pick(&FIELDS);
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    let mut text =
        format!("\nentity {entity} in T {{\n  key \"E{number}#{{owner}}\", \"E{number}#{{key}}\"\n\n  owner: ulid\n");
    text.push_str(dice.pick(&["  key: ulid = ulid()\n", "  key: slug(1..30)\n", "  key: int(1..9)\n"]));
    for field in &fields {
        let kind = dice.pick(&TYPES);
        let end = dice.pick(&["", "?", " secret", "? secret"]);
        text.push_str(&format!("  {field}: {kind}{end}\n"));
    }
    text.push_str("\n  volume 10 items, 300 bytes, 3 per partition\n}\n");
    let all = fields.join(", ");
    text.push_str(&format!(
        "\nread one{number}(owner, key) -> {entity}?  allow public\n  unscoped {entity} \"anything\"\n\nread must{number}(owner, key) -> {entity}  allow public\n  unscoped {entity} \"anything\"\n\nread page{number}(owner) -> [{entity}] page 5  allow public\n  unscoped {entity} \"anything\"\n\nread all{number}(owner) -> [{entity}] all  allow public\n  unscoped {entity} \"anything\"\n\nread some{number}(owner, key in keys) -> [{entity}]  allow public\n  unscoped {entity} \"anything\"\n\nread count{number}(owner) -> count {entity}  allow public\n  unscoped {entity} \"anything\"\n"
    ));
    text.push_str(&format!(
        "\nwrite make{number}(owner, key, {all}) -> {entity} {{\n  allow public\n  unscoped {entity} \"anything\"\n  create {entity} {{}} else Exists\n}}\n\nwrite drop{number}(owner, key) {{\n  allow public\n  unscoped {entity} \"anything\"\n  delete {entity}(owner, key)\n}}\n"
    ));
    text
}

#[test]
fn random_models_are_printed_as_rust_that_reads() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut printed = 0;
    for _ in 0..60 {
        let source = random(&mut dice);
        if !Checked::read(&source).has_errors() {
            check_layout(&source, &source);
            printed += 1;
        }
    }
    assert!(printed >= 20, "{printed} models were clean");
}
