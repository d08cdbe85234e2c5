//! K09: a time of mixed precision or offset in a sort key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::scalar::Resolution;
use keyform_language::schema::{Field, FieldId, Format, Part};
use keyform_language::span::Span;

use super::{Keyed, keys, naming, reading};

pub(super) static RULE: Rule = Rule {
    code: Code("K09"),
    severity: Severity::Warning,
    title: "times in a sort key do not sort by time",
    page: include_str!("../../../../../docs/rules/K09.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut reported = Vec::new();
    for keyed in keys(context.model) {
        for piece in keyed.key.sort.iter().flat_map(|part| &part.template.parts) {
            let Part::Field { field, format: Format::Plain, span } = piece else { continue };
            if is_uneven_time(context, keyed, *field) && !reported.contains(&(keyed.id, *field)) {
                reported.push((keyed.id, *field));
                findings.push(finding(keyed, keyed.entity.field(*field), *span));
            }
        }
    }
}

/// Returns whether the field is a time without a fixed precision and offset. A `datetime` in a sort key is there for
/// its order; a string that is only named like a time counts if a read depends on its order.
fn is_uneven_time(context: &Context<'_>, keyed: Keyed<'_>, id: FieldId) -> bool {
    let field = keyed.entity.field(id);
    match field.kind.resolved() {
        kind if kind.time().is_some_and(|time| time.resolution == Resolution::Mixed) => true,
        kind if kind.free_text().is_some() && naming::is_moment(&field.name) => {
            reading::relies_on_order(context, keyed.id, keyed.key.index, id).is_some()
        }
        _ => false,
    }
}

fn finding(keyed: Keyed<'_>, field: &Field, span: Span) -> Diagnostic {
    let name = &field.name;
    let message = format!("`{name}` does not sort chronologically in {}", keyed.title());
    Diagnostic::warning(RULE.code, keyed.place_of(span), message)
        .also(field.type_span, "any precision, any offset")
        .note("\"2026-10-31T09:00:00+02:00\" is earlier than \"2026-10-31T08:00:00Z\" but sorts after it")
        .help(format!("make it a `timestamp`, which is UTC with milliseconds: `{name}: timestamp`"))
}
