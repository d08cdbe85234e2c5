//! Models of designs for which no rule was written: as a careful engineer would write them, they have no errors and no
//! warnings, only notes. Every command runs on them, and typical mistakes in them are found.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use keyform_check::{Checked, cost, doc, explain};
use keyform_language::diagnostic::Severity;
use keyform_language::document::{self, json};

/// Models with the notes that each yields.
const MODELS: [(&str, &str); 7] = [
    ("booking", "T06"),
    ("catalogue", ""),
    ("jobs", "A15 T06"),
    ("ledger", "T06 V12"),
    ("saas", "T06 V02 V12"),
    ("sensors", "T06 V12"),
    ("shop", "T06 V12"),
];

/// Model, original text, replacement, and the codes then found besides notes.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("shop", "\"ORDER#{orderId}\", \"ORDER\"", "\"ORDER#{orderid}\", \"ORDER\"", "K01"),
    ("shop", "addressId:  ulid = ulid()", "addressId:  ulid?", "K02"),
    ("shop", "if revision = seen", "if revision = revision", "P07 W17"),
    ("shop", "via gsi1, page 100", "via gsi1, strong, page 100", "X05"),
    ("shop", "read orders(customerId)", "read orders(customerId, status)", "A03"),
    ("shop", "max 30 {", "max 80 {", "W03"),
    ("shop", "status = \"paid\"", "status = \"payed\"", "N25"),
    ("shop", "{ quantity = quantity }", "{ quantity = quantety }", "N11"),
    ("saas", "project (title, dueOn)", "project (title)", "X04"),
    ("saas", "assigneeSk) sparse", "assigneeSk)", "X02"),
    ("saas", "read board(tenantId, projectId, status)", "read board(tenantId, status)", "A01"),
    ("saas", "seats += 1", "seats += 1, seats -= 1", "W10"),
    ("ledger", "unit: \"EUR\" | \"USD\", text)", "currency, text)", "N11 W18×2"),
    ("ledger", "update Account(to)", "update Account(from)", "W02"),
    ("ledger", "key  \"ACCOUNT#{accountId}\", \"ENTRY", "key  \"ACCOUNT{accountId}\", \"ENTRY", "A01"),
    ("sensors", "epoch = now() + 90d", "epoch_ms = now() + 90d", "T01"),
    ("sensors", "replace Reading {", "put Reading {", "W01"),
    ("booking", "stream new_and_old", "stream new", "T04"),
    ("booking", "update Slot(roomId, day, hour)", "update Slot(roomId, day)", "N17"),
    ("booking", "update Slot(roomId, day, hour)", "update Slot(day, roomId, hour)", "N17"),
    ("booking", "[Slot] page 24", "[Slot]", "A11"),
    (
        "catalogue",
        "(department + category, brand + price)",
        "(department + category + brand + currency + sku, price)",
        "A01×2 X11",
    ),
    ("catalogue", "newest first, page 20", "ordered by rating descending, page 20", "A09"),
];

fn text(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/unseen").join(format!("{name}.kf"));
    fs::read_to_string(&path).expect("a model can be read")
}

/// Formats the codes of these findings, with their counts if more than one.
fn codes(checked: &Checked, wanted: impl Fn(Severity) -> bool) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in checked.diagnostics.iter().filter(|finding| wanted(finding.severity)) {
        *counts.entry(finding.code.0).or_default() += 1;
    }
    let words = counts.into_iter().map(|(code, count)| if count > 1 { format!("{code}×{count}") } else { code.into() });
    words.collect::<Vec<String>>().join(" ")
}

#[test]
fn careful_models_have_only_these_notes() {
    for (name, notes) in MODELS {
        let checked = Checked::read(&text(name));
        assert_eq!(codes(&checked, |severity| severity != Severity::Note), "", "{name}");
        let mut found: Vec<&str> = checked.diagnostics.iter().map(|finding| finding.code.0).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.join(" "), notes, "{name}");
    }
}

#[test]
fn mistakes_in_them_are_found_and_nothing_follows_from_them() {
    let mut wrongly = Vec::new();
    for (name, right, wrong, expected) in MISTAKES {
        let text = text(name);
        assert!(text.contains(right), "{name} has no {right}");
        let found = codes(&Checked::read(&text.replacen(right, wrong, 1)), |severity| severity != Severity::Note);
        if found != *expected {
            wrongly.push(format!("{name}: {wrong}: {found}, not {expected}"));
        }
    }
    assert!(wrongly.is_empty(), "{}", wrongly.join("\n"));
}

#[test]
fn they_stand_as_they_are_printed_and_their_json_form_is_the_same_model() {
    for (name, _) in MODELS {
        let text = text(name);
        let checked = Checked::read(&text);
        assert_eq!(document::print(&checked.document), text, "{name}");
        let written = json::to_json(&checked.document).to_string();
        let again = json::from_json(&written).expect("the JSON form can be read");
        assert_eq!(json::to_json(&again).to_string(), written, "{name}");
    }
}

#[test]
fn every_pattern_is_explained_and_the_rest_is_printed() {
    for (name, _) in MODELS {
        let checked = Checked::read(&text(name));
        let explained = explain::explain(&checked, "*");
        assert_eq!(explained.len(), checked.model.reads.len() + checked.model.writes.len(), "{name}");
        let prices = cost::price::PRICES;
        let report = cost::report(&checked.model, &checked.plans, &prices);
        assert!(cost::text::text(&report).contains('$'), "{name}");
        let page = doc::document(&checked, &prices);
        assert!(doc::markdown::print(&page).contains("# "), "{name}");
        assert!(doc::html::print(&page).contains("</html>"), "{name}");
    }
}

#[test]
fn an_index_of_the_tables_own_key_is_not_needless_for_one_entity() {
    let model = "model social\n\ntable Social {\n  key pk, sk\n  index inverse (sk, pk)\n}\n\n\
        entity User in Social {\n  key \"USER#{userId}\", \"USER#{userId}\"\n\n  userId: ulid = ulid()\n}\n\n\
        entity Follow in Social {\n  key \"USER#{follower}\", \"FOLLOWS#{followee}\"\n\n  follower: ref User keep\n  followee: ref User keep\n}\n\n\
        read user(userId) -> User?\nread following(follower) -> [Follow] page 50\nread followers(followee) -> [Follow] via inverse page 50\n";
    assert_eq!(codes(&Checked::read(model), |severity| severity == Severity::Warning), "");
}

#[test]
fn one_write_that_moves_items_by_several_fields_is_told_once() {
    let model = "model jobs\n\ntable Jobs {\n  key jobId\n  index due (queue, dueAt)\n}\n\n\
        entity Job in Jobs {\n  jobId: ulid = ulid()\n  queue: slug(1..40)\n  dueAt: timestamp\n}\n\n\
        read dueJobs(queue, dueAt <= until) -> [Job] via due page 10\n\n\
        write add(queue, dueAt) -> Job {\n  create Job {}\n}\n\n\
        write move(jobId, queue, dueAt) -> Job 50/s {\n  update Job(jobId) { queue = queue, dueAt = dueAt }\n}\n";
    let checked = Checked::read(model);
    let of_rule = checked.diagnostics.iter().filter(|finding| finding.code.0 == "X10");
    let found: Vec<&str> = of_rule.map(|finding| finding.message.as_str()).collect();
    assert_eq!(found, ["`queue` and `dueAt` move items of Job in `due` with every change"]);
}
