//! Findings as SARIF 2.1.0, which code hosts and editors display.

use serde_json::{Value, json};

use super::json::{File, Range, range};
use super::lines::Lines;
use super::{Diagnostic, Severity};
use crate::span::Span;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Description of a rule for the rule list.
#[derive(Clone, Copy, Debug)]
pub struct RuleInfo<'a> {
    /// Rule code.
    pub code: &'a str,
    /// Short title of the finding.
    pub title: &'a str,
    /// Default severity.
    pub severity: Severity,
    /// Documentation page in Markdown.
    pub page: &'a str,
}

/// Builds a log with one run: the rules and the findings of these files.
#[must_use]
pub fn log(files: &[File<'_>], rules: &[RuleInfo<'_>], version: &str) -> Value {
    let results: Vec<Value> = files.iter().flat_map(|file| results(file, rules)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "keyform",
                "version": version,
                "rules": rules.iter().map(rule).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "artifacts": files.iter().map(|file| json!({ "location": { "uri": uri(file.name) } })).collect::<Vec<_>>(),
            "results": results,
        }],
    })
}

fn rule(rule: &RuleInfo<'_>) -> Value {
    json!({
        "id": rule.code,
        "shortDescription": { "text": rule.title },
        "help": { "text": rule.page, "markdown": rule.page },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn results(file: &File<'_>, rules: &[RuleInfo<'_>]) -> Vec<Value> {
    let lines = Lines::new(file.text);
    file.diagnostics.iter().map(|found| result(file, &lines, rules, found)).collect()
}

fn result(file: &File<'_>, lines: &Lines<'_>, rules: &[RuleInfo<'_>], found: &Diagnostic) -> Value {
    let place = |span| json!({ "artifactLocation": { "uri": uri(file.name) }, "region": region(file, lines, span) });
    let related = found.secondary.iter().enumerate().map(|(number, label)| {
        let text = if label.text.is_empty() { "see here" } else { &label.text };
        json!({ "id": number, "physicalLocation": place(label.span), "message": { "text": text } })
    });
    let mut result = json!({
        "ruleId": found.code.0,
        "level": level(found.severity),
        "message": { "text": sentences(found) },
        "locations": [{ "physicalLocation": place(found.primary.span) }],
        "relatedLocations": related.collect::<Vec<_>>(),
    });
    if let Some(number) = rules.iter().position(|rule| rule.code == found.code.0) {
        result["ruleIndex"] = json!(number);
    }
    if !found.edits.is_empty() {
        result["fixes"] = json!([fix(file, lines, found)]);
    }
    result
}

/// Joins the message with its notes and help.
fn sentences(found: &Diagnostic) -> String {
    let mut text = found.message.clone();
    for note in &found.notes {
        text.push_str(&format!("\n{note}"));
    }
    if let Some(help) = &found.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text
}

fn fix(file: &File<'_>, lines: &Lines<'_>, found: &Diagnostic) -> Value {
    let replacements = found.edits.iter().map(
        |edit| json!({ "deletedRegion": region(file, lines, edit.span), "insertedContent": { "text": edit.text } }),
    );
    json!({
        "description": { "text": found.help.as_deref().unwrap_or("repair it") },
        "artifactChanges": [{
            "artifactLocation": { "uri": uri(file.name) },
            "replacements": replacements.collect::<Vec<_>>(),
        }],
    })
}

fn region(file: &File<'_>, lines: &Lines<'_>, span: Span) -> Value {
    let Range { start, end } = range(file.text, lines, span);
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "byteOffset": start.byte,
        "byteLength": end.byte - start.byte,
    })
}

/// Encodes a file name as a relative URI reference.
fn uri(name: &str) -> String {
    let mut uri = String::new();
    for byte in name.replace('\\', "/").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;

    /// Checks the properties that the SARIF 2.1.0 schema requires.
    #[test]
    fn a_log_has_what_the_schema_requires() {
        let text = "model a\nentity E in T {}\n";
        let span = Span::new(20, 21);
        let found = Diagnostic::warning(Code("K16"), span, "bad").also(Span::new(6, 7), "").note("n").edit(span, "U");
        let rules = [RuleInfo { code: "K16", title: "t", severity: Severity::Warning, page: "# K16" }];
        let log = log(&[File { name: "a b.kf", text, diagnostics: &[found] }], &rules, "1.0.0");
        assert_eq!((&log["version"], &log["runs"][0]["tool"]["driver"]["name"]), (&json!("2.1.0"), &json!("keyform")));
        let result = &log["runs"][0]["results"][0];
        assert_eq!((&result["ruleIndex"], &result["level"]), (&json!(0), &json!("warning")));
        assert_eq!(result["message"]["text"], "bad\nn");
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "a%20b.kf");
        assert_eq!((&place["region"]["startLine"], &place["region"]["startColumn"]), (&json!(2), &json!(13)));
        let change = &result["fixes"][0]["artifactChanges"][0];
        assert_eq!(change["replacements"][0]["insertedContent"]["text"], "U");
        assert!(change["replacements"][0]["deletedRegion"].is_object() && change["artifactLocation"].is_object());
        assert_eq!(result["relatedLocations"][0]["message"]["text"], "see here");
    }
}
