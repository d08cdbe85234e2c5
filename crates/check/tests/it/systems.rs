//! Models of the example systems: the literal documents have exactly the findings listed here, and the corrected models
//! have no errors and no warnings.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use keyform_check::{Checked, Options, explain};
use keyform_language::diagnostic::{Diagnostic, Severity, render};

/// Findings of the literal documents: each code, with its count if more than one.
const LITERAL: [(&str, &str); 5] = [
    ("agencies", "A11×3 K04×2 K05 K09×2 K16 T06 W01×2 W09×2 W13 W15×2 X09"),
    (
        "discord",
        "A02 A05 A06 A07×2 A10 A11×7 A12×3 A17 D08 K05×2 K08 K10 N07 T02×2 T06 T08×5 W01×4 W05×2 W07 W08 W09×2 W12×2 W15×5 W23×9 X08 X12",
    ),
    (
        "helpmaton",
        "A04×4 A06×5 A07×2 A08×2 A11×17 A15×14 A16×9 K02×13 K11×2 K12×4 K14 K17 T02×5 T05×2 T06×27 T07 W07×2 W08×2 W09 W11 W12×4 W23×11 X02×3 X08×3 X09×2 X12×5 X13",
    ),
    ("t3nets", "A08 A10 A11×3 A16 K04×2 K05×4 K07×2 T06×2 W01×5 W12 W15×3 W23×2 X01"),
    ("workspaces", "A07 A11×3 A15×2 K04 K05×6 K09×3 K16×3 M05×3 T06 X08 X09×3"),
];

/// Returns the codes that a system's page claims: the third column of its defect table, except rows that explain the
/// absence of a finding.
fn promised(page: &str) -> Vec<String> {
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let is_defect = cells.len() >= 3
            && line.starts_with("| ")
            && cells[0].get(2..).is_some_and(|number| number.parse::<u32>().is_ok());
        is_defect.then(|| cells[2].trim().to_owned())
    });
    let found = rows.filter(|cell| !cell.starts_with('–'));
    found
        .flat_map(|cell| {
            cell.split([' ', ',', ':']).filter(|word| is_code(word)).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

fn is_code(word: &str) -> bool {
    word.len() == 3 && word.starts_with(|first: char| first.is_ascii_uppercase()) && word[1..].parse::<u32>().is_ok()
}

#[test]
fn pages_name_only_rules_that_find_something() {
    for (name, _) in LITERAL {
        let found = Checked::read(&text(&format!("{name}/literal/{name}.kf"))).diagnostics;
        let codes = promised(&page(name));
        assert!(!codes.is_empty(), "{name}: no row of its page was understood");
        for code in codes {
            assert!(
                found.iter().any(|finding| finding.code.0 == code),
                "{name}: its page says {code}, which is not found"
            );
        }
    }
}

/// Returns the names that a page mentions after a keyword: `read userById`, `entity User`.
fn named<'a>(page: &'a str, word: &str) -> Vec<&'a str> {
    let start = format!("`{word} ");
    let rests = page.match_indices(&start).map(|(place, _)| &page[place + start.len()..]);
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    rests.map(|rest| rest.split(|letter| !is_part(letter)).next().unwrap_or_default()).collect()
}

#[test]
fn pages_name_only_what_their_model_has() {
    for (name, _) in LITERAL {
        let model = Checked::read(&text(&format!("{name}/{name}.kf"))).model;
        let page = page(name);
        let has = |word: &str, known: Vec<&String>| {
            for wanted in named(&page, word) {
                assert!(known.iter().any(|known| *known == wanted), "{name}: there is no {word} {wanted}");
            }
        };
        has("read", model.reads.iter().map(|read| &read.name).collect());
        has("write", model.writes.iter().map(|write| &write.name).collect());
        has("entity", model.entities.iter().map(|entity| &entity.name).collect());
        has("guard", model.guards.iter().map(|guard| &guard.name).collect());
    }
}

/// Models that must have no errors and no warnings.
const CORRECTED: [&str; 6] = [
    "agencies/agencies.kf",
    "discord/discord.kf",
    "helpmaton/helpmaton.kf",
    "t3nets/t3nets.kf",
    "workspaces/workspaces.kf",
    "workspaces/legacy/workspaces-v1.kf",
];

fn text(model: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../systems").join(model);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn page(system: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/systems/{system}.md"));
    fs::read_to_string(path).expect("every system has a page")
}

fn codes(findings: &[Diagnostic]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.code.0).or_default() += 1;
    }
    let words =
        counts.into_iter().map(|(code, count)| if count == 1 { code.to_owned() } else { format!("{code}×{count}") });
    words.collect::<Vec<String>>().join(" ")
}

fn assert_clean(model: &str, text: &str, findings: &[Diagnostic]) {
    let bad: Vec<Diagnostic> = findings.iter().filter(|finding| finding.severity != Severity::Note).cloned().collect();
    assert!(bad.is_empty(), "{}", render::text(text, model, &bad, false));
}

#[test]
fn documents_as_they_stand_have_these_findings() {
    let mut wrong = Vec::new();
    for (name, expected) in LITERAL {
        let found = codes(&Checked::read(&text(&format!("{name}/literal/{name}.kf"))).diagnostics);
        if found != expected {
            wrong.push(format!("{name}\n  expected: {expected}\n  found:    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn corrected_models_have_neither_errors_nor_warnings() {
    for model in CORRECTED {
        let text = text(model);
        assert_clean(model, &text, &Checked::read(&text).diagnostics);
    }
}

#[test]
fn the_old_form_of_workspaces_leads_to_the_new_one() {
    let old = Checked::read(&text("workspaces/legacy/workspaces-v1.kf")).model;
    let new = text("workspaces/workspaces.kf");
    let checked = Checked::read_with(&new, Options { before: Some(&old), ..Options::default() });
    assert_clean("workspaces.kf", &new, &checked.diagnostics);
}

#[test]
fn a_channel_mapping_that_is_indexed_is_still_not_unique() {
    let written = "channelMapping  \"CHANNEL#{channel_type}#{channel_id}\"";
    let with_sort_key = format!("{written}, \"TENANT#{{tenant_id}}\"");
    let repaired = text("t3nets/literal/t3nets.kf").replace(written, &with_sort_key);
    let found = codes(&Checked::read(&repaired).diagnostics);
    assert!(found.contains("A06") && !found.contains("X01"), "{found}");
}

#[test]
fn an_update_moves_the_part_of_an_index_key_that_it_touches() {
    let checked = Checked::read(&text("workspaces/workspaces.kf"));
    let request = explain::text::text(&explain::explain(&checked, "setItemStatus"));
    assert!(request.contains("WSSTATUS#") && !request.contains("REMOVE"), "{request}");
}
