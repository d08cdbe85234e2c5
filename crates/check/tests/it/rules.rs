//! The rule pages are the tests of the rules: a model that breaks the rule yields exactly the rendered findings on the
//! page, and the repaired model has none of them, no error and no warning.
//!
//! On a page, a `kf` block followed by a `text` block breaks the rule; one without is repaired. A `kf before` block is
//! the previous version of the next model, and a `json samples` block holds sample items for it. `kf alternator` is
//! checked for that store. `KEYFORM_BLESS=1` regenerates the `text` blocks.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::PathBuf;

use keyform_check::check::{Rule, Target};
use keyform_check::rules;
use keyform_check::samples::Samples;
use keyform_check::{Checked, Options};
use keyform_language::diagnostic::{Diagnostic, Severity, render};

fn path(rule: &Rule) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/rules/{}.md", rule.code))
}

/// A fenced block: its info string, its text, and its lines on the page.
#[derive(Debug)]
struct Block {
    info: String,
    text: String,
    first: usize,
    end: usize,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Block { info: info.to_owned(), text: String::new(), first: number + 1, end: 0 })
            }
            (Some(_), Some(_)) => {
                let mut block = open.take().expect("matched above");
                block.end = number;
                blocks.push(block);
            }
            (Some(block), None) => block.text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

fn checked(block: &Block, before: Option<&Block>, samples: Option<&Block>) -> Checked {
    let target = if block.info == "kf alternator" { Target::Alternator } else { Target::DynamoDb };
    let before = before.map(|before| Checked::read(&before.text).model);
    let samples = samples.map(|samples| Samples::read(&samples.text).expect("the samples of a page are JSON lines"));
    Checked::read_with(&block.text, Options { target, before: before.as_ref(), samples: samples.as_ref() })
}

fn rendered(rule: &Rule, block: &Block, checked: &Checked) -> String {
    let found: Vec<Diagnostic> =
        checked.diagnostics.iter().filter(|finding| finding.code == rule.code).cloned().collect();
    render::text(&block.text, "model.kf", &found, false)
}

/// Returns the expected page, or the problem with its models.
fn expected(rule: &Rule, page: &str) -> Result<String, String> {
    let blocks = blocks(page);
    let mut before = None;
    let mut samples = None;
    let mut shown = Vec::new();
    let mut repaired = 0;
    for (number, block) in blocks.iter().enumerate() {
        match block.info.as_str() {
            "kf before" => before = Some(block),
            "json samples" => samples = Some(block),
            "kf" | "kf alternator" => {
                let checked = checked(block, before.take(), samples.take());
                if let Some(text) = blocks.get(number + 1).filter(|next| next.info == "text") {
                    shown.push((text, rendered(rule, block, &checked)));
                } else {
                    repaired += 1;
                    repaired_is_clean(rule, block, &checked)?;
                }
            }
            _ => {}
        }
    }
    if shown.is_empty() || repaired == 0 {
        return Err("a page shows a model that breaks the rule and a repaired one".to_owned());
    }
    with_shown(page, shown)
}

fn with_shown(page: &str, shown: Vec<(&Block, String)>) -> Result<String, String> {
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    for (block, text) in shown.into_iter().rev() {
        if text.trim().is_empty() {
            return Err(format!("the model before line {} does not break the rule", block.first));
        }
        lines.splice(block.first..block.end, text.trim_end().lines().map(str::to_owned));
    }
    Ok(lines.join("\n") + "\n")
}

fn repaired_is_clean(rule: &Rule, block: &Block, checked: &Checked) -> Result<(), String> {
    let is_wrong = |finding: &&Diagnostic| finding.code == rule.code || finding.severity != Severity::Note;
    let found: Vec<Diagnostic> = checked.diagnostics.iter().filter(is_wrong).cloned().collect();
    if found.is_empty() {
        return Ok(());
    }
    Err(format!("the repaired model still has findings:\n{}", render::text(&block.text, "model.kf", &found, false)))
}

#[test]
fn every_rule_does_what_its_page_shows() {
    let bless = std::env::var_os("KEYFORM_BLESS").is_some();
    let mut wrong = Vec::new();
    for rule in rules::all() {
        let page = fs::read_to_string(path(rule)).unwrap();
        if !page.starts_with(&format!("# {}: {}\n", rule.code, rule.title)) {
            wrong.push(format!("{}: the title of its page differs", rule.code));
        }
        match expected(rule, &page) {
            Ok(expected) if expected == page => {}
            Ok(expected) if bless => fs::write(path(rule), &expected).unwrap(),
            Ok(expected) => wrong.push(format!("{}: KEYFORM_BLESS=1 would write:\n{expected}", rule.code)),
            Err(why) => wrong.push(format!("{}: {why}", rule.code)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_has_its_rule() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules");
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let code = name.trim_end_matches(".md");
        let is_code = code.len() == 3 && code[1..].chars().all(|digit| digit.is_ascii_digit());
        assert!(!is_code || rules::by_code(code).is_some(), "{name} belongs to no rule");
    }
}

#[test]
fn codes_are_used_once() {
    let mut codes: Vec<&str> = rules::all().map(|rule| rule.code.0).collect();
    let all = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), all);
}
