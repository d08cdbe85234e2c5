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
    Some(finding(keyed, field, order, span, read))
}

fn finding(keyed: Keyed<'_>, field: &Field, order: Order, span: Span, read: &Read) -> Diagnostic {
    let name = &field.name;
    let message = match order {
        Order::TooNarrow => format!("`{name}` can be wider than its padding, and then sorts before smaller numbers"),
        _ => format!("`{name}` has no fixed width in the key, so 10 sorts before 9"),
    };
    Diagnostic::warning(RULE.code, keyed.place_of(span), message)
        .also(read.name_span, "relies on its order")
        .also(field.type_span, "its type")
        .help(repair(field, order))
}

fn repair(field: &Field, order: Order) -> String {
    let name = &field.name;
    match (field.kind.time().map(|time| time.resolution), order) {
        (Some(Resolution::Seconds), _) => format!("write `{{{name}:s}}`, always 10 digits, or make it a `timestamp`"),
        (Some(Resolution::Milliseconds), _) => {
            format!("write `{{{name}:ms}}`, always 13 digits, or make it a `timestamp`")
        }
        (_, Order::TooNarrow) => {
            format!("limit `{name}` to what its padding holds: `int(0..999999)` for `pad(6)`")
        }
        _ => format!("write `{{{name}:pad(10)}}` and limit it to 0 or more, or make it a number attribute of its own"),
    }
}
