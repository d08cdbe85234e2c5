//! Findings as JSON, for other programs. The format is public: fields may be added, never changed or removed.

use schemars::JsonSchema;
use serde::Serialize;

use super::lines::{Lines, within};
use super::{Diagnostic, Severity};
use crate::span::Span;

/// A file with its findings.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// File name as shown to the user.
    pub name: &'a str,
    /// Source text that the spans refer to.
    pub text: &'a str,
    /// Findings in source order.
    pub diagnostics: &'a [Diagnostic],
}

/// All findings of a run, as serialized.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Version of the format: 1.
    pub version: u32,
    /// Number of errors.
    pub errors: usize,
    /// Number of warnings.
    pub warnings: usize,
    /// Number of notes.
    pub notes: usize,
    /// Findings by file and position.
    pub findings: Vec<Finding>,
}

/// A finding.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Rule code such as `K11`.
    pub code: String,
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// Finding in one sentence.
    pub message: String,
    /// File name.
    pub file: String,
    /// Main source range.
    pub range: Range,
    /// Short text for the main range; may be empty.
    pub label: String,
    /// Related source ranges.
    pub labels: Vec<LabelledRange>,
    /// Explanations.
    pub notes: Vec<String>,
    /// Suggested correction.
    pub help: Option<String>,
    /// Edits that apply the correction, only if they are certain.
    pub edits: Vec<Replacement>,
}

/// A source range with a short text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LabelledRange {
    /// Source range.
    pub range: Range,
    /// Short text for the range.
    pub text: String,
}

/// A text replacement.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Replacement {
    /// Range to replace; an empty range inserts.
    pub range: Range,
    /// Replacement text.
    pub text: String,
}

/// A range of a file. Lines and columns count from 1, bytes from 0; the end is exclusive.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    /// First position.
    pub start: Point,
    /// Position after the last.
    pub end: Point,
}

/// A position in a file.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Point {
    /// Line, from 1.
    pub line: usize,
    /// Column in Unicode scalar values, from 1.
    pub column: usize,
    /// Byte offset, from 0.
    pub byte: usize,
}

/// Builds the report of all findings in these files.
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

/// Formats the report of all findings in these files as JSON text.
///
/// # Errors
///
/// Never in practice: the report contains only values that JSON can represent.
pub fn text(files: &[File<'_>]) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&report(files))
}

fn findings(file: &File<'_>) -> Vec<Finding> {
    let lines = Lines::new(file.text);
    file.diagnostics.iter().map(|found| finding(file, &lines, found)).collect()
}

fn finding(file: &File<'_>, lines: &Lines<'_>, found: &Diagnostic) -> Finding {
    let range = |span| range(file.text, lines, span);
    let places =
        found.secondary.iter().map(|label| LabelledRange { range: range(label.span), text: label.text.clone() });
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

/// Converts a span to lines, columns and bytes.
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
