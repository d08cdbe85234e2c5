//! The example systems isolate their tenants, as `check` says.

use std::fs;
use std::path::Path;

use keyform_check::{Checked, explain};
use keyform_language::schema::ReadId;
use keyform_prove::{Class, Proof};

use crate::{proof, reported, transcripts};

const SYSTEMS: [&str; 5] = ["agencies", "discord", "helpmaton", "t3nets", "workspaces"];

fn model(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(format!("systems/{name}/{name}.kf"))).expect("the model of a system")
}

/// Patterns for operators only: no caller of the trial has a claim with `global`.
fn of_operators(name: &str) -> &'static [&'static str] {
    match name {
        "agencies" => {
            &["agencies", "latestAgencies", "deleteAgency", "orderDissolution", "dissolveAgency", "evictMembers"]
        }
        "t3nets" => {
            &["tenants", "tenantOfChannel", "mappingsOfChannel", "identity", "setDailyLimit", "setTenantStatus"]
        }
        _ => &[],
    }
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
        // A write into a value that an older item lacks is repeated once, with the default.
        let tries = if checked.model.writes.iter().any(|write| write.name == explained.pattern) { 2 } else { 1 };
        assert!(explained.requests.is_none_or(|most| sent <= tries * most), "{}: {sent} requests", explained.pattern);
    }
}

#[test]
fn tenants_of_the_systems_are_isolated() {
    for name in SYSTEMS {
        let text = model(name);
        let proof = proof(&text);
        assert!(proof.leaks.is_empty(), "{name}: {}", transcripts(&proof));
        check_requests(&Checked::read(&text), &proof);
        assert_eq!(reported(&text), Vec::<String>::new(), "{name}: the checker agrees");
        assert!(proof.patterns.iter().all(|tried| tried.calls > 0), "{name}: every pattern is called");
        let closed: Vec<&str> = proof.closed().map(|tried| tried.name.as_str()).collect();
        assert_eq!(closed, of_operators(name), "{name}: every other pattern lets some caller in");
        let answered = proof.answers.get(&Class::Answered).copied().unwrap_or_default();
        assert!(
            answered * 10 > proof.calls(),
            "{name}: {answered} of {} calls found or wrote something",
            proof.calls()
        );
    }
}

/// The time of a proof is that of its requests; a call sends few.
#[test]
fn proof_sends_few_requests() {
    let proof = proof(&model("helpmaton"));
    assert!(proof.requests < 2 * proof.calls(), "{} requests of {} calls", proof.requests, proof.calls());
    assert!(proof.calls() < 30_000, "{} calls", proof.calls());
}
