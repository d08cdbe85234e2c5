//! K08: a number of varying width in a sort key that a read orders or ranges by.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::KeyType;
use keyform_language::scalar::Resolution;
use keyform_language::schema::{Field, FieldId, Format, KeyPart, Part, Read};
use keyform_language::span::Span;
use keyform_language::template::Order;
use keyform_language::template::order::order;

use super::{Keyed, attribute, keys, reading};

pub(super) static RULE: Rule = Rule {
    code: Code("K08"),
    severity: Severity::Warning,
    title: "numbers in a sort key sort as text",
    page: include_str!("../../../../../docs/rules/K08.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for keyed in keys(context.model) {
        for part in keyed.key.sort.iter().filter(|part| is_text(keyed, part)) {
            for piece in &part.template.parts {
                if let Part::Field { field, format, span } = piece {
                    findings.extend(unordered(context, keyed, (*field, *format, *span)));
                }
            }
        }
    }
}

fn is_text(keyed: Keyed<'_>, part: &KeyPart) -> bool {
    attribute(keyed.table, keyed.key.index, &part.attribute).is_some_and(|attribute| attribute.kind == KeyType::String)
}

fn unordered(context: &Context<'_>, keyed: Keyed<'_>, place: (FieldId, Format, Span)) -> Option<Diagnostic> {
    let (id, format, span) = place;
    let field = keyed.entity.field(id);
    let order = order(&field.kind, format);
    if !matches!(order, Order::UnevenNumbers | Order::TooNarrow) {
        return None;
    }
    let read = reading::relies_on_order(context, keyed.id, keyed.key.index, id)?;
    Some(finding(keyed, (field, format, order), span, read))
}

fn finding(keyed: Keyed<'_>, (field, format, order): (&Field, Format, Order), span: Span, read: &Read) -> Diagnostic {
    let name = &field.name;
    let message = match order {
        Order::TooNarrow => format!("`{name}` can be wider than its padding, and then sorts before smaller numbers"),
        _ => format!("`{name}` has no fixed width in the key, so 10 sorts before 9"),
    };
    let (help, placeholder) = repair(field, format);
    let finding = Diagnostic::warning(RULE.code, keyed.place_of(span), message)
        .also(read.name_span, "relies on its order")
        .also(field.type_span, "its type")
        .help(help);
    match placeholder.filter(|_| keyed.key.written) {
        Some(placeholder) => finding.edit(span, placeholder),
        None => finding,
    }
}

/// Returns the correction, and the placeholder that applies it if the type already has bounds.
fn repair(field: &Field, format: Format) -> (String, Option<String>) {
    let name = &field.name;
    let certain = |placeholder: String, why: &str| (format!("write `{placeholder}`{why}"), Some(placeholder));
    match field.kind.time().map(|time| time.resolution) {
        Some(Resolution::Seconds) => certain(format!("{{{name}:s}}"), ", always 10 digits, or make it a `timestamp`"),
        Some(Resolution::Milliseconds) => {
            certain(format!("{{{name}:ms}}"), ", always 13 digits, or make it a `timestamp`")
        }
        Some(Resolution::Mixed | Resolution::Days) | None => match digits(field) {
            Some(digits) => certain(format!("{{{name}:pad({digits})}}"), ""),
            None => (bounded(field, format), None),
        },
    }
}

/// Returns the width of the largest value of a type without negative numbers.
fn digits(field: &Field) -> Option<usize> {
    let bounds = field.kind.value_bounds().filter(|bounds| bounds.min.is_some_and(|min| min >= 0))?;
    bounds.max.map(|max| max.to_string().len())
}

/// Digits that the help suggests for a number without bounds.
const DIGITS_ASSUMED: usize = 10;

/// Suggests bounds, and the padding that holds them.
fn bounded(field: &Field, format: Format) -> String {
    let name = &field.name;
    let padded = if let Format::Pad(digits) = format { digits as usize } else { DIGITS_ASSUMED };
    let max = field.kind.value_bounds().and_then(|bounds| bounds.max).filter(|max| *max > 0);
    let most = max.map_or_else(|| "9".repeat(padded), |max| max.to_string());
    format!("limit it, `int(0..{most})`, and write `{{{name}:pad({})}}`", most.len())
}
