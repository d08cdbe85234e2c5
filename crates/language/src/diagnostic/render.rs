//! Renders findings as text: the message, the marked source lines, explanations, and the suggested correction.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::lines::{Lines, within};
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
    let lines = Lines::new(source);
    let shown = diagnostics.iter().take(SHOWN_MAX);
    let mut rendered: Vec<String> = shown.map(|found| one(&renderer, source, &lines, name, found)).collect();
    if diagnostics.len() > SHOWN_MAX {
        rendered.push(format!("{name}: {} more findings are not shown", diagnostics.len() - SHOWN_MAX));
    }
    let mut text = rendered.join("\n\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// Findings of a file that are shown. More are not readable, and each costs as much as the lines between its places.
const SHOWN_MAX: usize = 1000;

fn one(renderer: &Renderer, source: &str, lines: &Lines<'_>, name: &str, found: &Diagnostic) -> String {
    let level = match found.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(found.message.as_str()).id(found.code.0);
    let mut group = title.element(snippet(source, lines, name, found));
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
    lines: &Lines<'_>,
    name: &'a str,
    found: &'a Diagnostic,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    // The renderer indexes the whole source for each finding, so it gets only the lines that the finding marks.
    let labels = || found.secondary.iter().chain([&found.primary]).map(|label| within(source, label.span));
    let first = labels().map(|span| span.start).min().unwrap_or(0);
    let last = labels().map(|span| span.end).max().unwrap_or(source.len());
    let start = lines.start_of(first);
    let end = source[last..].find('\n').map_or(source.len(), |length| last + length + 1);
    let mark = |kind: AnnotationKind, label: &'a Label| {
        let span = within(source, label.span);
        let mark = kind.span(span.start - start..span.end - start);
        if label.text.is_empty() { mark } else { mark.label(label.text.as_str()) }
    };
    let others = found.secondary.iter().map(|label| mark(AnnotationKind::Context, label));
    let shown = Snippet::source(&source[start..end]).line_start(lines.position(first).line);
    shown.path(name).annotation(mark(AnnotationKind::Primary, &found.primary)).annotations(others)
}
