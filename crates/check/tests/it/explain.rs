//! Golden tests of `explain`.
//!
//! `KEYFORM_BLESS=1 cargo test -p keyform-language explain` regenerates the files; review the difference like code.

use std::fs;
use std::path::{Path, PathBuf};

use keyform_check::Checked;
use keyform_check::explain::{explain, text};

use crate::golden::compare;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/explain")
}

fn checked(name: &str) -> Checked {
    Checked::read(&fs::read_to_string(folder().join(name)).expect("the model can be read"))
}

#[test]
fn patterns_are_explained_in_words_as_request_and_as_command() {
    let checked = checked("chat.kf");
    assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
    compare(&folder().join("chat.txt"), &text::text(&explain(&checked, "*")));
}

#[test]
fn an_explanation_is_json_too() {
    let explained = explain(&checked("chat.kf"), "messagesAfter");
    let printed = serde_json::to_string_pretty(&explained).expect("an explanation can be printed");
    compare(&folder().join("messagesAfter.json"), &format!("{printed}\n"));
}

#[test]
fn a_pattern_without_a_plan_says_so() {
    let text = "model m\n\ntable T { key pk, sk }\n\nentity E in T {\n  key \"E#{id}\", \"S#{n}\"\n\n  id: ulid\n  n:  ulid\n}\n\nread e(id) -> E?\n";
    let explained = explain(&Checked::read(text), "*");
    assert_eq!(explained[0].plan, ["No plan: `keyform check` reports the reason."]);
    assert_eq!(explained[0].operation, None);
}

#[test]
fn what_a_set_or_a_list_contains_is_one_of_its_elements() {
    let text = "model m\n\ntable T { key pk }\n\nentity E in T {\n  key \"E#{id}\"\n\n  id:   ulid\n  tags: set<string>?\n  list: list<int> = []\n}\n\nread e(id) -> E?\n\nwrite tag(id, tag: string, n: int) -> E {\n  update E(id) { add tags tag }\n    if not tags contains tag else Tagged\n    if list contains n else Unlisted\n}\n";
    let checked = Checked::read(text);
    assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
    let request = text::text(&explain(&checked, "tag"));
    assert!(request.contains("NOT contains(#n0, :v1) AND contains(#n2, :v2)"), "{request}");
    assert!(request.contains("\":v1\": { \"S\": ") && request.contains("\":v2\": { \"N\": "), "{request}");
}

#[test]
fn a_held_guard_is_part_of_the_request() {
    let text = "model m\ncaller userId: slug(1..9)\ntable T { key pk, sk }\n\
        entity Member in T {\n  key \"ORG#{orgId}\", \"MEMBER#{userId}\"\n  orgId: slug(1..9)\n  userId: slug(1..9)\n}\n\
        entity Chart in T {\n  key \"CHART#{chartId}\", \"CHART\"\n  chartId: slug(1..9)\n  orgId: slug(1..9)\n}\n\
        guard member(orgId) = exists Member(orgId, caller.userId)\n\
        write drop(orgId, chartId) { allow held member(orgId)  delete Chart(chartId) }\n\
        write look(orgId, chartId) { allow member(orgId)  delete Chart(chartId) }\n\
        write leave(orgId) { allow held member(orgId)  delete Member(orgId, caller.userId) }\n";
    let explained = explain(&Checked::read(text), "*");
    let operations: Vec<_> = explained.iter().map(|it| (it.pattern.as_str(), it.operation.unwrap())).collect();
    assert_eq!(operations, [("drop", "TransactWriteItems"), ("look", "DeleteItem"), ("leave", "DeleteItem")]);
    let request = explained[0].request.as_ref().unwrap();
    assert!(request["TransactItems"][0]["ConditionCheck"]["Key"]["sk"]["S"].as_str().unwrap().starts_with("MEMBER#"));
    assert!(explained[2].request.as_ref().unwrap()["ConditionExpression"].as_str().is_some());
}
