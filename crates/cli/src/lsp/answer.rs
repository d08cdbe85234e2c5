//! Answers of the language server.

use keyform_check::Checked;
use keyform_check::editor::{self, CompletionKind, RenameError};
use keyform_language::Span;
use keyform_language::diagnostic::{Diagnostic as Finding, Severity};
use keyform_language::document::{parse, print};
use lsp_types::{
    CodeActionParams, CompletionItem, CompletionItemKind, CompletionParams, Diagnostic, DiagnosticRelatedInformation,
    DiagnosticSeverity, DocumentFormattingParams, GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverContents,
    HoverParams, Location, MarkupContent, MarkupKind, NumberOrString, Range, ReferenceParams, RenameParams,
    TextDocumentPositionParams, TextEdit, Uri,
};
use serde_json::{Value, json};

use super::document::Documents;
use super::position;

fn at<'a>(documents: &'a Documents, params: &TextDocumentPositionParams) -> Option<(&'a Checked, usize)> {
    let checked = documents.get(&params.text_document.uri)?;
    Some((checked, position::offset(&checked.source, params.position)))
}

/// Returns the diagnostics of a document.
pub(super) fn findings(uri: &Uri, checked: &Checked) -> Vec<Diagnostic> {
    checked.diagnostics.iter().map(|finding| told(uri, &checked.source, finding)).collect()
}

fn told(uri: &Uri, source: &str, finding: &Finding) -> Diagnostic {
    let mut message = finding.message.clone();
    for line in finding.notes.iter().chain(&finding.help) {
        message.push('\n');
        message.push_str(line);
    }
    let related = finding.secondary.iter().map(|label| DiagnosticRelatedInformation {
        location: Location::new(uri.clone(), position::range(source, label.span)),
        message: label.text.clone(),
    });
    let related: Vec<DiagnosticRelatedInformation> = related.collect();
    Diagnostic {
        range: position::range(source, finding.primary.span),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Note => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(finding.code.to_string())),
        source: Some("keyform".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}

pub(super) fn completion(documents: &Documents, params: &CompletionParams) -> Vec<CompletionItem> {
    let Some((checked, offset)) = at(documents, &params.text_document_position) else { return Vec::new() };
    let item = |completion: editor::Completion| CompletionItem {
        label: completion.label,
        detail: (!completion.detail.is_empty()).then_some(completion.detail),
        kind: Some(match completion.kind {
            CompletionKind::Keyword => CompletionItemKind::KEYWORD,
            CompletionKind::Field => CompletionItemKind::FIELD,
            CompletionKind::Type => CompletionItemKind::CLASS,
            CompletionKind::Function => CompletionItemKind::FUNCTION,
            CompletionKind::Index => CompletionItemKind::REFERENCE,
            CompletionKind::Variable => CompletionItemKind::VARIABLE,
        }),
        ..CompletionItem::default()
    };
    editor::complete(checked, offset).into_iter().map(item).collect()
}

pub(super) fn hover(documents: &Documents, params: &HoverParams) -> Option<Hover> {
    let (checked, offset) = at(documents, &params.text_document_position_params)?;
    let found = editor::hover(checked, offset)?;
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: found.text });
    Some(Hover { contents, range: Some(position::range(&checked.source, found.span)) })
}

pub(super) fn definition(documents: &Documents, params: &GotoDefinitionParams) -> Option<GotoDefinitionResponse> {
    let place = &params.text_document_position_params;
    let (checked, offset) = at(documents, place)?;
    let span = editor::definition(checked, offset)?;
    let location = Location::new(place.text_document.uri.clone(), position::range(&checked.source, span));
    Some(GotoDefinitionResponse::Scalar(location))
}

/// Returns the fixes of the findings in a range. A finding has edits only if they are certain.
pub(super) fn code_actions(documents: &Documents, params: &CodeActionParams) -> Vec<Value> {
    let uri = &params.text_document.uri;
    let Some(checked) = documents.get(uri) else { return Vec::new() };
    let source = &checked.source;
    let asked = params.range;
    let meets = |range: Range| range.start <= asked.end && asked.start <= range.end;
    let fixable = checked.diagnostics.iter().filter(|finding| !finding.edits.is_empty());
    let here = fixable.filter(|finding| meets(position::range(source, finding.primary.span)));
    let action = |finding: &Finding| {
        let edits =
            finding.edits.iter().map(|edit| TextEdit::new(position::range(source, edit.span), edit.text.clone()));
        json!({
            "title": format!("{}: {}", finding.code, finding.help.as_deref().unwrap_or("apply the correction")),
            "kind": "quickfix",
            "isPreferred": true,
            "diagnostics": [told(uri, source, finding)],
            "edit": workspace_edit(uri, edits.collect()),
        })
    };
    here.map(action).collect()
}

pub(super) fn references(documents: &Documents, params: &ReferenceParams) -> Option<Vec<Location>> {
    let place = &params.text_document_position;
    let (checked, offset) = at(documents, place)?;
    let mut spans = editor::references(checked, offset);
    if !params.context.include_declaration {
        let declared = editor::definition(checked, offset);
        spans.retain(|span| Some(*span) != declared);
    }
    let location = |span| Location::new(place.text_document.uri.clone(), position::range(&checked.source, span));
    Some(spans.into_iter().map(location).collect())
}

/// Renames the name at a position; refuses if the renamed model would have an error.
pub(super) fn rename(documents: &Documents, params: &RenameParams) -> Result<Value, RenameError> {
    let place = &params.text_document_position;
    let (checked, offset) = at(documents, place).ok_or(RenameError::NoName)?;
    let spans = editor::rename(checked, offset, &params.new_name)?;
    let edits = spans.into_iter().map(|span| {
        let range = position::range(&checked.source, span);
        TextEdit::new(range, params.new_name.clone())
    });
    Ok(workspace_edit(&place.text_document.uri, edits.collect()))
}

fn workspace_edit(uri: &Uri, edits: Vec<TextEdit>) -> Value {
    json!({ "changes": { uri.as_str(): edits } })
}

/// Formats a document; returns `None` while it has syntax errors, because the formatter would have to guess.
pub(super) fn formatting(documents: &Documents, params: &DocumentFormattingParams) -> Option<Vec<TextEdit>> {
    let checked = documents.get(&params.text_document.uri)?;
    let (document, mistakes) = parse(&checked.source);
    let formatted = print(&document);
    if !mistakes.is_empty() || formatted == checked.source {
        return None;
    }
    let whole = position::range(&checked.source, Span::new(0, checked.source.len()));
    Some(vec![TextEdit::new(whole, formatted)])
}
