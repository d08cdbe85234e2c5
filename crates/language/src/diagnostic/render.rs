//! Renders findings as text: the message, the marked source lines, explanations, and the suggested correction.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::lines::within;
use super::{Diagnostic, Label, Severity};

/// Renders the findings of a file, separated by empty lines; empty without findings. `name` is the file name to show.
///
/// ```
/// use keyform_language::{Code, Diagnostic, Span, diagnostic::render};
///
/// let found = Diagnostic::error(Code("N04"), Span::new(15, 20), "unknown table `Char`").help("did you mean `Chat`?");
/// let text = render::text("entity User in Char {}", "chat.kf", &[found], false);
/// assert!(text.starts_with("error[N04]: unknown table `Char`\n --> chat.kf:1:16\n"));
/// ```
#[must_use]
pub fn text(source: &str, name: &str, diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let rendered: Vec<String> = diagnostics.iter().map(|found| one(&renderer, source, name, found)).collect();
    let mut text = rendered.join("\n\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn one(renderer: &Renderer, source: &str, name: &str, found: &Diagnostic) -> String {
    let level = match found.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(found.message.as_str()).id(found.code.0);
    let mut group = title.element(snippet(source, name, found));
    for note in &found.notes {
        group = group.element(Level::NOTE.message(note.as_str()));
    }
    if let Some(help) = &found.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let report: [Group<'_>; 1] = [group];
    let text = renderer.render(&report);
    // The renderer pads lines without text after the frame.
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn snippet<'a>(
    source: &'a str,
    name: &'a str,
    found: &'a Diagnostic,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let mark = |kind: AnnotationKind, label: &'a Label| {
        let span = within(source, label.span);
        let mark = kind.span(span.start..span.end);
        if label.text.is_empty() { mark } else { mark.label(label.text.as_str()) }
    };
    let others = found.secondary.iter().map(|label| mark(AnnotationKind::Context, label));
    Snippet::source(source).path(name).annotation(mark(AnnotationKind::Primary, &found.primary)).annotations(others)
}
