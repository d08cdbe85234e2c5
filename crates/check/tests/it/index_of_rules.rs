//! The rule index in `docs/rules/README.md` is generated from the rules. `KEYFORM_BLESS=1` regenerates it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use keyform_check::check::Rule;
use keyform_check::rules;

const GROUPS: [(char, &str); 9] = [
    ('K', "Keys and templates"),
    ('X', "Indexes"),
    ('A', "Reads"),
    ('W', "Writes"),
    ('P', "Permissions"),
    ('D', "Types of data"),
    ('T', "Time, streams and types"),
    ('M', "Evolution, checked with `--against` the model before"),
    ('V', "Figures, from `volume`, rates and samples"),
];

fn page() -> String {
    let all: Vec<&Rule> = rules::all().collect();
    let mut text = String::from("# Rules of the checker\n\n");
    text.push_str("`keyform check` reports these findings. `keyform check --explain CODE` prints a rule's page; `allow CODE \"reason\"` in a model suppresses a warning.\n");
    text.push_str("Other codes: [S](S.md) syntax errors, [N](N.md) unresolved names and types, [L](L.md) `allow` without effect.\n");
    for (letter, title) in GROUPS {
        writeln!(text, "\n## {title}\n\n| code | usually | finds |\n|---|---|---|")
            .expect("writing to a String never fails");
        for rule in all.iter().filter(|rule| rule.code.0.starts_with(letter)) {
            writeln!(text, "| [{0}]({0}.md) | {1} | {2} |", rule.code, rule.severity, rule.title)
                .expect("writing to a String never fails");
        }
    }
    text
}

#[test]
fn the_list_of_rules_is_complete() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules/README.md");
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        fs::write(&path, page()).expect("writing to a String never fails");
    }
    assert_eq!(fs::read_to_string(path).unwrap(), page(), "KEYFORM_BLESS=1 writes it");
}
