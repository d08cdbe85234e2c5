//! Templates: text cut into literals and fields, and whether a format fits what it formats.

use crate::diagnostic::Diagnostic;
use crate::document::ast::Text;
use crate::schema::FieldId;
use crate::schema::field::Type;
use crate::schema::key::{Format, Part, Template};
use crate::span::Span;

use super::code;
use super::found::{Found, nearest};

const FORMATS: [&str; 9] = ["ms", "s", "day", "hour", "month", "pad", "upper", "lower", "hash"];

/// A template whose names are found by `field`.
pub(super) fn resolve(
    text: &Text,
    found: &mut Found,
    mut field: impl FnMut(&str, Span, &mut Found) -> Option<FieldId>,
) -> Template {
    let mut parts = Vec::new();
    for piece in pieces(text) {
        parts.push(match piece {
            Piece::Text(text) => Part::Text(text),
            Piece::Hole { name, format, span } => {
                let format = format.map_or(Format::Plain, |format| parse_format(&format, span, found));
                match field(&name, span, found) {
                    Some(field) => Part::Field { field, format, span },
                    None => Part::Unknown { name, span },
                }
            }
        });
    }
    Template { parts, span: text.span }
}

enum Piece {
    Text(String),
    Hole { name: String, format: Option<String>, span: Span },
}

/// Cuts a template. `{{` and `}}` stand for braces; a brace that is never closed is text.
fn pieces(text: &Text) -> Vec<Piece> {
    let source = &text.text;
    // With escapes inside the quotes the offsets differ; then the whole text has to do as the place.
    let exact = text.span.end.saturating_sub(text.span.start) == source.len() + 2;
    let place = |start: usize, end: usize| match exact {
        true => Span::new(text.span.start + 1 + start, text.span.start + 1 + end),
        false => text.span,
    };
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some(next) = source[at..].chars().next() {
        let rest = &source[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            literal.push(next);
            at += 2;
        } else if let Some(end) = rest.find('}').filter(|_| next == '{') {
            if !literal.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut literal)));
            }
            let inner = &rest[1..end];
            let (name, format) = match inner.split_once(':') {
                Some((name, format)) => (name, Some(format.trim().to_owned())),
                None => (inner, None),
            };
            pieces.push(Piece::Hole { name: name.trim().to_owned(), format, span: place(at, at + end + 1) });
            at += end + 1;
        } else {
            literal.push(next);
            at += next.len_utf8();
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    pieces
}

fn parse_format(text: &str, span: Span, found: &mut Found) -> Format {
    match text {
        "ms" => return Format::Milliseconds,
        "s" => return Format::Seconds,
        "day" => return Format::Day,
        "hour" => return Format::Hour,
        "month" => return Format::Month,
        "upper" => return Format::Upper,
        "lower" => return Format::Lower,
        "hash" => return Format::Hash,
        _ => {}
    }
    let digits = text.strip_prefix("pad(").and_then(|rest| rest.strip_suffix(')'));
    if let Some(digits) =
        digits.and_then(|digits| digits.trim().parse().ok()).filter(|digits| (1..=38).contains(digits))
    {
        return Format::Pad(digits);
    }
    let word = text.split('(').next().unwrap_or(text);
    let finding = Diagnostic::error(code::FORMAT, span, format!("there is no format `{text}`"));
    found.add(match nearest(word, &FORMATS) {
        Some("pad") => finding.help("write `pad(n)` with the number of digits, at most 38"),
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => {
            finding.help("the formats are `ms`, `s`, `day`, `hour`, `month`, `pad(n)`, `upper`, `lower` and `hash`")
        }
    });
    Format::Plain
}

/// Reports formats that the types of their fields do not have.
pub(super) fn check_formats(template: &Template, kind: impl Fn(FieldId) -> (String, Type), found: &mut Found) {
    for part in &template.parts {
        let Part::Field { field, format, span } = part else { continue };
        let (name, kind) = kind(*field);
        let Some(wanted) = misfit(*format, kind.resolved()) else { continue };
        let message = format!("`{name}` is not {wanted}, so the format `{format}` does not fit");
        found.add(Diagnostic::error(code::FORMAT, *span, message).help(format!("write `{{{name}}}`")));
    }
}

/// What the type would have to be.
fn misfit(format: Format, kind: &Type) -> Option<&'static str> {
    let (fits, wanted) = match format {
        Format::Plain | Format::Hash => return None,
        Format::Milliseconds | Format::Seconds | Format::Month | Format::Day | Format::Hour => {
            (matches!(kind, Type::Timestamp | Type::Epoch | Type::EpochMs), "a timestamp, an epoch or an epoch_ms")
        }
        Format::Pad(_) => (matches!(kind, Type::Int(_) | Type::Epoch | Type::EpochMs | Type::Money), "a whole number"),
        Format::Upper | Format::Lower => (kind.is_text(), "text"),
    };
    (!fits && !matches!(kind, Type::Unknown)).then_some(wanted)
}
