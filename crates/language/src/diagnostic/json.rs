//! Findings as JSON, for other programs. The form is public: fields are added, never changed or removed.

use schemars::JsonSchema;
use serde::Serialize;

use super::lines::{Lines, within};
use super::{Diagnostic, Severity};
use crate::span::Span;

/// The findings of a file.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// What was found in it.
    pub diagnostics: &'a [Diagnostic],
}

/// All findings, as they are written.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The form's version: 1.
    pub version: u32,
    /// How many errors there are.
    pub errors: usize,
    /// How many warnings there are.
    pub warnings: usize,
    /// How many notes there are.
    pub notes: usize,
    /// The findings, by file and place.
    pub findings: Vec<Finding>,
}

/// A finding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Its code, such as `K11`.
    pub code: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The file.
    pub file: String,
    /// The place it is about.
    pub range: Range,
    /// A few words about that place; may be empty.
    pub label: String,
    /// Other places that belong to it.
    pub labels: Vec<Place>,
    /// Sentences that explain.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// The edits that do it, where they are certain.
    pub edits: Vec<Replacement>,
}

/// A place and what is to be said there.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The place.
    pub range: Range,
    /// A few words.
    pub text: String,
}

/// A replacement of a piece of text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Replacement {
    /// What is replaced; an empty range inserts.
    pub range: Range,
    /// By what.
    pub text: String,
}

/// A piece of a file. Lines and columns count from 1, bytes from 0; the end is the first position that no longer belongs to it.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    /// Where it begins.
    pub start: Point,
    /// Where it ends.
    pub end: Point,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Point {
    /// The line, from 1.
    pub line: usize,
    /// The column, in Unicode scalar values, from 1.
    pub column: usize,
    /// The byte, from 0.
    pub byte: usize,
}

/// Everything that was found in these files.
#[must_use]
pub fn report(files: &[File<'_>]) -> Report {
    let count = |severity| {
        let all = files.iter().flat_map(|file| file.diagnostics);
        all.filter(|found| found.severity == severity).count()
    };
    Report {
        version: 1,
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        notes: count(Severity::Note),
        findings: files.iter().flat_map(findings).collect(),
    }
}

/// Everything that was found in these files, as text.
///
/// # Errors
///
/// Never in practice: the report holds nothing that JSON cannot.
pub fn text(files: &[File<'_>]) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&report(files))
}

fn findings(file: &File<'_>) -> Vec<Finding> {
    let lines = Lines::new(file.text);
    file.diagnostics.iter().map(|found| finding(file, &lines, found)).collect()
}

fn finding(file: &File<'_>, lines: &Lines<'_>, found: &Diagnostic) -> Finding {
    let range = |span| range(file.text, lines, span);
    let places = found.secondary.iter().map(|label| Place { range: range(label.span), text: label.text.clone() });
    let edits = found.edits.iter().map(|edit| Replacement { range: range(edit.span), text: edit.text.clone() });
    Finding {
        code: found.code.to_string(),
        severity: found.severity.to_string(),
        message: found.message.clone(),
        file: file.name.to_owned(),
        range: range(found.primary.span),
        label: found.primary.text.clone(),
        labels: places.collect(),
        notes: found.notes.clone(),
        help: found.help.clone(),
        edits: edits.collect(),
    }
}

/// A span as lines, columns and bytes.
#[must_use]
pub fn range(text: &str, lines: &Lines<'_>, span: Span) -> Range {
    let span = within(text, span);
    let point = |byte| {
        let position = lines.position(byte);
        Point { line: position.line, column: position.column, byte }
    };
    Range { start: point(span.start), end: point(span.end) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;

    #[test]
    fn a_finding_says_lines_columns_and_bytes() {
        let text = "model a\nentity Ü in Tablee {}\n";
        let start = text.find("Tablee").unwrap();
        let span = Span::new(start, start + 6);
        let found = Diagnostic::error(Code("N04"), span, "no table").help("did you mean `Table`?").edit(span, "Table");
        let report = report(&[File { name: "a.kf", text, diagnostics: &[found] }]);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["errors"], 1);
        let range = &json["findings"][0]["range"];
        assert_eq!(range["start"], serde_json::json!({ "line": 2, "column": 13, "byte": 21 }));
        assert_eq!(range["end"], serde_json::json!({ "line": 2, "column": 19, "byte": 27 }));
        assert_eq!(json["findings"][0]["edits"][0]["text"], "Table");
    }
}
