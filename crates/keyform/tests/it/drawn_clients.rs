//! Random models for the tests of generated clients: `clients/generated/drawn` has each model, and calls with every kind
//! of step. `clients/models` serves them, makes the calls with the generated TypeScript and Python clients, and reads
//! each item back. `KEYFORM_BLESS=1` draws them again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use keyform_check::Checked;
use keyform_language::document::ast::Verb;
use keyform_language::document::{parse, print};
use keyform_language::schema::{ChangeKind, Model, Parameter, Type, Write};
use keyform_scenario::Dice;
use serde_json::{Value, json};

use crate::random;

/// Number of models. Together they have every kind of step.
const MODELS: u64 = 8;
const IDS: [&str; 2] = ["a", "b"];
/// Calls of each write.
const ROUNDS: usize = 3;

/// Returns the source of a model. Each has a table of its own, because one server serves them all.
fn model(seed: u64) -> String {
    let text = random::types::draw(seed).replace("\"things\"", &format!("\"things{seed}\""));
    print(&parse(&text).0)
}

/// Returns the calls of a model: items with values that fit, then changes, some with values that do not fit.
fn calls(model: &Model, seed: u64) -> Vec<Value> {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678);
    let mut calls = Vec::new();
    let is = |name: &'static str| move |write: &&Write| write.name == name;
    for id in IDS {
        calls.extend(model.writes.iter().filter(is("make")).map(|write| call(write, id, &mut |kind| fitting(kind))));
    }
    for _ in 0..ROUNDS {
        for write in model.writes.iter().filter(|write| !["make", "drop"].contains(&write.name.as_str())) {
            let id = dice.pick(&IDS);
            let is_whole = ["replace", "set"].contains(&write.name.as_str());
            let value = &mut |kind: &Type| if is_whole { fitting(kind) } else { any(kind, &mut dice) };
            calls.push(call(write, id, value));
        }
    }
    calls.extend(model.writes.iter().filter(is("drop")).map(|write| call(write, IDS[0], &mut fitting)));
    calls
}

fn call(write: &Write, id: &str, value: &mut dyn FnMut(&Type) -> Value) -> Value {
    let mut given = |parameter: &Parameter| match parameter.field_name.as_str() {
        "id" => json!(id),
        _ => value(&parameter.kind),
    };
    let arguments: serde_json::Map<String, Value> =
        write.parameters.iter().map(|it| (it.field_name.clone(), given(it))).filter(|(_, it)| !it.is_null()).collect();
    json!({ "pattern": write.name, "arguments": arguments })
}

/// Returns a value that fits every field of the random models with this type.
fn fitting(kind: &Type) -> Value {
    match kind.resolved() {
        kind if kind.is_numeric() => json!(1),
        Type::OneOf(texts) => json!(texts[0]),
        Type::List(of, _) | Type::Set(of, _) => json!([fitting(of)]),
        // Two letters fit every text, except those of one letter.
        kind if kind.scalar().is_some_and(|(_, bounds)| bounds.max == Some(1)) => json!("a"),
        _ => json!("ab"),
    }
}

fn any(kind: &Type, dice: &mut Dice) -> Value {
    match kind.resolved() {
        kind if kind.is_numeric() => json!(dice.pick(&[-1, 0, 1, 1, 2])),
        Type::OneOf(texts) => json!(texts[dice.below(texts.len())]),
        Type::List(of, _) | Type::Set(of, _) => (0..1 + dice.below(2)).map(|_| any(of, dice)).collect(),
        _ => json!(dice.pick(&["a", "ab", "c"])),
    }
}

/// Returns the kinds of steps of a model.
fn kinds(model: &Model) -> BTreeSet<&'static str> {
    let mut kinds = BTreeSet::new();
    for action in model.writes.iter().flat_map(Write::actions) {
        kinds.insert(match action.verb {
            Verb::Create => "create",
            Verb::Put => "put",
            Verb::Upsert => "upsert",
            Verb::Update => "update",
            Verb::Delete => "delete",
            Verb::Check => "check",
        });
        for change in action.changes.iter().filter(|change| change.written) {
            kinds.insert(match (&change.kind, change.path().is_empty()) {
                (ChangeKind::Set(_), true) => "set",
                (ChangeKind::Set(_), false) => "set an entry",
                (ChangeKind::Increase(_) | ChangeKind::Decrease(_), true) => "count",
                (ChangeKind::Increase(_) | ChangeKind::Decrease(_), false) => "count in an entry",
                (ChangeKind::Append(_), _) => "append",
                (ChangeKind::Add(_), _) => "add",
                (ChangeKind::Take(_), _) => "take",
                (ChangeKind::Remove, true) => "remove",
                (ChangeKind::Remove, false) => "remove an entry",
            });
        }
    }
    kinds
}

fn compare(path: &Path, drawn: &str) {
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        fs::write(path, drawn).unwrap();
    }
    assert_eq!(fs::read_to_string(path).unwrap_or_default(), drawn, "{}", path.display());
}

#[test]
fn models_for_generated_clients_have_every_kind_of_step() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/generated/drawn");
    let mut found = BTreeSet::new();
    for seed in 0..MODELS {
        let text = model(seed);
        let checked = Checked::read(&text);
        assert!(!checked.has_errors(), "{text}\n{:#?}", checked.diagnostics);
        found.extend(kinds(&checked.model));
        compare(&folder.join(format!("types{seed}.kf")), &text);
        let calls: Vec<String> = calls(&checked.model, seed).iter().map(|call| format!("  {call}")).collect();
        compare(&folder.join(format!("types{seed}.json")), &format!("[\n{}\n]\n", calls.join(",\n")));
    }
    let expected = [
        "add",
        "append",
        "count",
        "count in an entry",
        "create",
        "delete",
        "put",
        "remove",
        "remove an entry",
        "set",
        "set an entry",
        "take",
        "update",
        "upsert",
    ];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
}
