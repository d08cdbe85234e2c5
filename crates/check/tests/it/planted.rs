//! Planted defects: models of many domains, and small changes of them that each introduce one defect.
//!
//! `tests/planted/MODEL/model.kf` has no errors and no warnings. Each table of `tests/planted/MODEL/variants.toml`
//! replaces one text of it and says why the result is wrong. `tests/planted/score.txt` lists how many of the defects
//! the checker finds in each family, how many the request prevents (`enforced` names the outcome with which the changed
//! write still refuses), and each one that it misses. In the family `not-decidable` are defects that differ from correct
//! models only in what their author wanted, such as a record that a member of a club creates for another member.
//! `KEYFORM_BLESS=1 cargo test -p keyform-check --test it planted` regenerates that file; review the difference like
//! code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use keyform_check::surface::Pattern;
use keyform_check::{Checked, Options};
use keyform_language::diagnostic::{Diagnostic, Severity, render};
use keyform_language::document;
use serde::Deserialize;

use crate::golden::compare;

#[derive(Debug)]
struct Planted {
    name: String,
    text: String,
    variants: Vec<Variant>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variants {
    variant: Vec<Variant>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    name: String,
    family: String,
    /// The harm, for readers of the file.
    why: String,
    /// Text that occurs exactly once in the model.
    replace: String,
    with: String,
    /// Checks the variant as a new version of the model.
    #[serde(default)]
    against: bool,
    /// Accepted codes. Without any, every finding near the change counts.
    #[serde(default)]
    expect: Vec<String>,
    /// Outcome with which the changed write refuses, so that the harm does not occur.
    #[serde(default)]
    enforced: Option<String>,
}

/// Findings of a variant that are errors or warnings, except `allow` without effect.
#[derive(Debug)]
struct Outcome {
    is_found: bool,
    is_enforced: bool,
    codes: BTreeSet<&'static str>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/planted")
}

fn models() -> Vec<Planted> {
    let entries = fs::read_dir(folder()).expect("the folder can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.retain(|path| path.is_dir());
    paths.sort();
    paths.iter().map(|path| model(path)).collect()
}

fn model(path: &Path) -> Planted {
    let name = path.file_name().expect("a folder has a name").to_string_lossy().into_owned();
    let text = fs::read_to_string(path.join("model.kf")).expect("the model can be read");
    let variants = fs::read_to_string(path.join("variants.toml")).expect("the variants can be read");
    let variants: Variants = toml::from_str(&variants).unwrap_or_else(|error| panic!("{name}/variants.toml: {error}"));
    Planted { name, text, variants: variants.variant }
}

/// Returns the text of every variant with its name.
pub(crate) fn texts() -> Vec<(String, String)> {
    let of_model = |planted: Planted| {
        let text = |variant: &Variant| planted.text.replacen(&variant.replace, &variant.with, 1);
        let named = |variant: &Variant| (format!("{}/{}", planted.name, variant.name), text(variant));
        planted.variants.iter().map(named).collect::<Vec<_>>()
    };
    models().into_iter().flat_map(of_model).collect()
}

fn is_serious(finding: &Diagnostic) -> bool {
    finding.severity != Severity::Note && !finding.code.0.starts_with('L')
}

/// Returns the offset at which each declaration starts: every line that begins with a letter.
fn declarations(text: &str) -> Vec<usize> {
    let mut offset = 0;
    let mut starts = Vec::new();
    for line in text.split_inclusive('\n') {
        if line.starts_with(|first: char| first.is_ascii_alphabetic()) {
            starts.push(offset);
        }
        offset += line.len();
    }
    starts
}

fn declaration_at(starts: &[usize], offset: usize) -> usize {
    starts.partition_point(|start| *start <= offset).saturating_sub(1)
}

/// Returns the changed declarations with their neighbours.
fn near(starts: &[usize], start: usize, end: usize) -> RangeInclusive<usize> {
    let last = end.saturating_sub(1).max(start);
    declaration_at(starts, start).saturating_sub(1)..=declaration_at(starts, last) + 1
}

fn outcome(planted: &Planted, clean: &Checked, variant: &Variant) -> Outcome {
    let id = format!("{}/{}", planted.name, variant.name);
    assert_eq!(planted.text.matches(&variant.replace).count(), 1, "{id}: the replaced text occurs once");
    assert_ne!(variant.replace, variant.with, "{id} changes the model");
    assert!(!variant.why.is_empty(), "{id} has a reason");
    let start = planted.text.find(&variant.replace).unwrap_or_default();
    let text = planted.text.replacen(&variant.replace, &variant.with, 1);
    let before = variant.against.then_some(&clean.model);
    let checked = Checked::read_with(&text, Options { before, ..Options::default() });
    let findings: Vec<&Diagnostic> = checked.diagnostics.iter().filter(|finding| is_serious(finding)).collect();
    let syntax = findings.iter().find(|finding| finding.code.0.starts_with('S'));
    assert!(syntax.is_none(), "{id} is not a model: {syntax:?}");
    let starts = declarations(&text);
    let near = near(&starts, start, start + variant.with.len());
    let is_near = |finding: &Diagnostic| {
        let labels = std::iter::once(&finding.primary).chain(&finding.secondary);
        labels.into_iter().any(|label| near.contains(&declaration_at(&starts, label.span.start)))
    };
    let is_found = findings.iter().any(|finding| match variant.expect.as_slice() {
        [] => is_near(finding),
        codes => codes.iter().any(|code| code == finding.code.0),
    });
    let is_enforced = variant.enforced.as_ref().is_some_and(|outcome| enforces(&checked, start, outcome));
    Outcome { is_found, is_enforced, codes: findings.iter().map(|finding| finding.code.0).collect() }
}

/// Returns whether the write at this offset refuses with the outcome, although its author does not name it.
fn enforces(checked: &Checked, offset: usize, outcome: &str) -> bool {
    Pattern::all(&checked.model).any(|pattern| match pattern {
        Pattern::Read(_) => false,
        Pattern::Write(write) => {
            let is_here = write.span.start <= offset && offset < write.span.end;
            is_here && pattern.outcomes(checked).iter().any(|name| name == outcome)
        }
    })
}

/// Numbers of a family.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    found: usize,
    enforced: usize,
    all: usize,
}

impl Score {
    fn add(self, other: Self) -> Self {
        Self { found: self.found + other.found, enforced: self.enforced + other.enforced, all: self.all + other.all }
    }

    fn line(self, family: &str) -> String {
        format!("{:5} {:8} {:3}  {family}", self.found, self.enforced, self.all)
    }
}

/// Formats the score of each family, and the missed defects with the codes that were found at other declarations.
fn score() -> String {
    let mut families: BTreeMap<String, Score> = BTreeMap::new();
    let mut missed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for planted in models() {
        let clean = Checked::read(&planted.text);
        for variant in &planted.variants {
            let outcome = outcome(&planted, &clean, variant);
            let is_missed = !outcome.is_found && !outcome.is_enforced;
            let enforced = usize::from(outcome.is_enforced && !outcome.is_found);
            let one = Score { found: usize::from(outcome.is_found), enforced, all: 1 };
            let family = families.entry(variant.family.clone()).or_default();
            *family = family.add(one);
            if is_missed {
                missed.entry(variant.family.clone()).or_default().push(missed_line(&planted, variant, &outcome));
            }
        }
    }
    let total = families.values().fold(Score::default(), |total, family| total.add(*family));
    let mut lines = vec!["found enforced  of  family".to_owned()];
    lines.extend(families.iter().map(|(family, score)| score.line(family)));
    lines.extend([total.line("total"), String::new(), "missed".to_owned()]);
    for (family, variants) in missed {
        lines.extend([String::new(), family]);
        lines.extend(variants);
    }
    lines.join("\n") + "\n"
}

fn missed_line(planted: &Planted, variant: &Variant, outcome: &Outcome) -> String {
    let codes: Vec<&str> = outcome.codes.iter().copied().collect();
    let others = if codes.is_empty() { String::new() } else { format!(" (other findings: {})", codes.join(" ")) };
    format!("  {}/{}{others}", planted.name, variant.name)
}

#[test]
fn models_without_a_defect_have_no_findings() {
    let mut wrong = Vec::new();
    for planted in models() {
        let checked = Checked::read(&planted.text);
        let found: Vec<Diagnostic> =
            checked.diagnostics.iter().filter(|finding| finding.severity != Severity::Note).cloned().collect();
        if !found.is_empty() {
            wrong.push(render::text(&planted.text, &format!("{}/model.kf", planted.name), &found, false));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn models_are_formatted() {
    for planted in models() {
        assert_eq!(document::print(&Checked::read(&planted.text).document), planted.text, "{}", planted.name);
    }
}

#[test]
fn the_score_is_the_recorded_one() {
    compare(&folder().join("score.txt"), &score());
}
