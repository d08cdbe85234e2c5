//! Resolves templates and checks that formats fit their fields.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{Name, Text};
use crate::document::template::{FieldPiece, FormatPiece, TemplatePiece, parse_template};
use crate::scalar::Resolution;
use crate::schema::FieldId;
use crate::schema::field::Type;
use crate::schema::key::{Format, Part, Template};
use crate::span::Span;

use super::code;
use super::found::{Found, nearest};

const FORMATS: [&str; 9] = ["ms", "s", "day", "hour", "month", "pad", "upper", "lower", "hash"];

/// Resolves a template; `field` looks up its names.
///
/// A malformed piece is reported and becomes an unknown part without a name.
pub(super) fn resolve(
    text: &Text,
    found: &mut Found,
    mut field: impl FnMut(&Name, &mut Found) -> Option<FieldId>,
) -> Template {
    let (pieces, mistakes) = parse_template(text);
    let broken = mistakes.iter().map(|mistake| unreadable(mistake.primary.span)).collect::<Vec<_>>();
    mistakes.into_iter().for_each(|mistake| found.add(mistake));
    let part = |piece: TemplatePiece| match piece {
        TemplatePiece::Text { text, .. } => Part::Text(text),
        TemplatePiece::Field(FieldPiece { field: name, format, span }) => {
            let format = format.map_or(Format::Plain, |format| resolve_format(&format, found));
            match field(&name, found) {
                Some(field) => Part::Field { field, format, span },
                None => Part::Unknown { name: name.text, span },
            }
        }
    };
    let parts = pieces.into_iter().map(part).chain(broken).collect();
    Template { parts, span: text.span }
}

/// Returns a placeholder for a part that was already reported; rules skip it.
pub(super) fn unreadable(span: Span) -> Part {
    Part::Unknown { name: String::new(), span }
}

fn resolve_format(it: &FormatPiece, found: &mut Found) -> Format {
    let format = match (it.name.text.as_str(), it.argument) {
        ("ms", None) => Some(Format::Milliseconds),
        ("s", None) => Some(Format::Seconds),
        ("day", None) => Some(Format::Day),
        ("hour", None) => Some(Format::Hour),
        ("month", None) => Some(Format::Month),
        ("upper", None) => Some(Format::Upper),
        ("lower", None) => Some(Format::Lower),
        ("hash", None) => Some(Format::Hash),
        ("pad", Some(digits @ 1..=38)) => u32::try_from(digits).ok().map(Format::Pad),
        _ => None,
    };
    format.unwrap_or_else(|| unknown_format(it, found))
}

fn unknown_format(it: &FormatPiece, found: &mut Found) -> Format {
    let name = it.name.text.as_str();
    if name == "pad" {
        let finding = Diagnostic::error(code::FORMAT, it.span, "`pad` needs a number of digits, at most 38");
        found.add(finding.help("write `pad(8)`"));
        return Format::Plain;
    }
    if FORMATS.contains(&name) {
        let finding = Diagnostic::error(code::FORMAT, it.span, format!("the format `{name}` does not accept a number"));
        found.add(finding.help(format!("write `{name}`")).edit(it.span, name));
        return Format::Plain;
    }
    let finding = Diagnostic::error(code::FORMAT, it.span, format!("unknown format `{name}`"));
    found.add(match nearest(name, &FORMATS) {
        Some("pad") => finding.help("did you mean `pad(n)`, with the number of digits?"),
        Some(near) => finding.help(format!("did you mean `{near}`?")).edit(it.name.span, near),
        None => {
            finding.help("the formats are `ms`, `s`, `day`, `hour`, `month`, `pad(n)`, `upper`, `lower` and `hash`")
        }
    });
    Format::Plain
}

/// Reports formats that do not apply to the types of their fields.
pub(super) fn check_formats(template: &Template, kind: impl Fn(FieldId) -> (String, Type), found: &mut Found) {
    for part in &template.parts {
        let Part::Field { field, format, span } = part else { continue };
        let (name, kind) = kind(*field);
        let Some(wanted) = misfit(*format, kind.resolved()) else { continue };
        let message = format!(
            "`{name}` is not {wanted}, so the format `{}` does not fit",
            format.to_string().trim_start_matches(':')
        );
        found.add(Diagnostic::error(code::FORMAT, *span, message).help(format!("write `{{{name}}}`")));
    }
}

/// Returns the type that the format requires, if `kind` does not fit.
fn misfit(format: Format, kind: &Type) -> Option<&'static str> {
    let (fits, wanted) = match format {
        Format::Plain | Format::Hash => return None,
        Format::Milliseconds | Format::Seconds | Format::Month | Format::Day | Format::Hour => {
            (is_instant(kind), "a timestamp, an epoch or an epoch_ms")
        }
        Format::Pad(_) => (is_whole(kind), "a whole number"),
        Format::Upper | Format::Lower => (kind.is_text(), "text"),
    };
    (!fits && !matches!(kind, Type::Unknown)).then_some(wanted)
}

fn is_instant(kind: &Type) -> bool {
    kind.time().is_some_and(|time| matches!(time.resolution, Resolution::Milliseconds | Resolution::Seconds))
}

fn is_whole(kind: &Type) -> bool {
    kind.scalar().is_some_and(|(scalar, bounds)| scalar.whole(bounds).is_some())
}
