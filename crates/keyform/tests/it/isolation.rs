//! No pattern of any model exposes or changes data of another caller. The calls are derived from the models, so new
//! patterns are covered. The tests of `crates/prove` cover the systems.

use crate::random;
use std::fs;
use std::path::{Path, PathBuf};

use keyform_check::{Checked, explain};
use keyform_language::schema::ReadId;
use keyform_prove::{Proof, prove};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// Tries a model. Findings about permissions do not count: the trial has to find leaks without the checker.
fn proof(text: &str) -> Proof {
    let mut checked = Checked::read(text);
    checked.diagnostics.retain(|finding| !finding.code.0.starts_with('P'));
    assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
    let proof = prove(&checked).unwrap();
    check_requests(&checked, &proof);
    proof
}

/// Returns the patterns that the checker reports, each once.
fn reported(text: &str) -> Vec<String> {
    let checked = Checked::read(text);
    let found = checked.diagnostics.iter().filter(|finding| finding.code.0 == "P01");
    let mut names: Vec<String> =
        found.filter_map(|finding| finding.message.split('`').nth(1)).map(str::to_owned).collect();
    names.dedup();
    names
}

/// Returns whether filling a page may take more requests, because a filter excludes items.
fn is_filled(checked: &Checked, name: &str) -> bool {
    let number = checked.model.reads.iter().position(|read| read.name == name);
    let plan = number.and_then(|number| checked.plans.read(ReadId(number)));
    plan.is_some_and(|plan| !plan.filters.is_empty())
}

/// Asserts that no call sends more requests than `explain` states.
fn check_requests(checked: &Checked, proof: &Proof) {
    let explained = explain::explain(checked, "*").into_iter();
    for explained in explained.filter(|explained| !is_filled(checked, &explained.pattern)) {
        let tried = proof.patterns.iter().find(|tried| tried.name == explained.pattern);
        let sent = tried.map_or(0, |tried| tried.requests);
        assert!(
            explained.requests.is_none_or(|most| sent <= most),
            "{}: {sent} requests\n{:#?}",
            explained.pattern,
            explained.plan
        );
    }
}

/// Checks a model; returns the patterns that no caller could enter.
fn check(text: &str) -> Vec<String> {
    let proof = proof(text);
    let leaks: Vec<String> = proof.leaks.iter().map(ToString::to_string).collect();
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    assert!(proof.patterns.iter().all(|tried| tried.calls > 0));
    proof.closed().map(|tried| tried.name.clone()).collect()
}

#[test]
fn callers_of_models_nobody_thought_of_are_kept_apart() {
    for name in ["booking", "saas", "shop"] {
        check(&fs::read_to_string(path(&format!("crates/check/tests/unseen/{name}.kf"))).unwrap());
    }
}

/// Number of random models; `KEYFORM_SEED` selects a single one.
const SEEDS: u64 = 24;

fn seeds() -> std::ops::Range<u64> {
    let one = std::env::var("KEYFORM_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    one.map_or(0..SEEDS, |seed| seed..seed + 1)
}

/// Random models cover patterns that no hand-written model has.
#[test]
fn callers_of_random_models_are_kept_apart() {
    for seed in seeds() {
        let text = random::draw(seed).text();
        let closed = std::panic::catch_unwind(|| check(&text));
        let closed = closed.unwrap_or_else(|_| panic!("the model of seed {seed}:\n{text}"));
        assert_eq!(closed, Vec::<String>::new(), "seed {seed}: patterns that reject every caller\n{text}");
    }
}

/// Each permission of a random model is necessary: without it the trial finds the leak, and in no other pattern. Tests
/// one permission per model to limit the time.
#[test]
fn a_permission_that_is_missing_in_a_random_model_is_found() {
    for seed in seeds() {
        let leaky = random::draw(seed).leaky();
        let Some((text, pattern)) = leaky.get(seed as usize % leaky.len().max(1)) else { continue };
        let mut leaks: Vec<String> = proof(text).leaks.into_iter().map(|leak| leak.pattern).collect();
        leaks.dedup();
        assert_eq!(leaks, [pattern.as_str()], "seed {seed}: everybody may call {pattern}\n{text}");
    }
}

const NOTES: &str = r#"model notes

caller tenantId: slug(1..20), userId: ulid

table Notes {
  key pk, sk
  index byNote (noteId)
}

entity Note in Notes {
  key "TENANT#{tenantId}", "NOTE#{noteId}"

  tenantId: slug(1..20)
  noteId:   ulid
  text:     string(..100)
}

read note(tenantId, noteId) -> Note?   allow tenantId = caller.tenantId
read notes(tenantId) -> [Note] page 10 allow tenantId = caller.tenantId

write edit(tenantId, noteId, text) -> Note {
  allow tenantId = caller.tenantId
  update Note(tenantId, noteId) { text = text } else Unknown
}

write remove(tenantId, noteId) {
  allow tenantId = caller.tenantId
  delete Note(tenantId, noteId)
}
"#;

#[test]
fn a_pattern_that_leaks_is_found() {
    assert_eq!(check(NOTES), Vec::<String>::new());
    let leaks = |from: &str, to: &str| {
        assert!(NOTES.contains(from));
        let leaky = NOTES.replace(from, to);
        let mut names: Vec<String> = proof(&leaky).leaks.into_iter().map(|leak| leak.pattern).collect();
        names.dedup();
        assert_eq!(reported(&leaky), names, "the checker and the trial agree");
        names
    };
    let any_caller = "allow caller.userId is some";
    assert_eq!(leaks("-> Note?   allow tenantId = caller.tenantId", &format!("-> Note? {any_caller}")), ["note"]);
    assert_eq!(leaks("page 10 allow tenantId = caller.tenantId", &format!("page 10 {any_caller}")), ["notes"]);
    let edit = "text) -> Note {\n  allow tenantId = caller.tenantId";
    assert_eq!(leaks(edit, &format!("text) -> Note {{\n  {any_caller}")), ["edit"]);
    let remove = "noteId) {\n  allow tenantId = caller.tenantId";
    assert_eq!(leaks(remove, &format!("noteId) {{\n  {any_caller}")), ["remove"]);
    let across = "read found(noteId) -> [Note] via byNote, page 5 allow caller.userId is some\nread note(";
    assert_eq!(leaks("read note(", across), ["found"]);
}
