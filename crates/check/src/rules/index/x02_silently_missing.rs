//! X02: an index key uses an optional field, and the index is not marked `sparse`.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Number;
use keyform_language::schema::{FieldId, Index, IndexId, Read, Result};
use keyform_language::span::Span;

use super::index_keys;
use crate::rules::key::{Keyed, field_places, reading};

pub(super) static RULE: Rule = Rule {
    code: Code("X02"),
    severity: Severity::Warning,
    title: "an index silently omits items",
    page: include_str!("../../../../../docs/rules/X02.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (keyed, id, index) in index_keys(context.model).filter(|(_, _, index)| !index.sparse) {
        let optional = keyed.places().find(|(field, _)| keyed.entity.field(*field).optional);
        if let Some((field, span)) = optional {
            findings.push(finding(context, keyed, (id, index), field, span));
        }
    }
}

fn finding(
    context: &Context<'_>,
    keyed: Keyed<'_>,
    index: (IndexId, &Index),
    field: FieldId,
    span: Span,
) -> Diagnostic {
    let own = keyed.entity.field(field);
    let (id, index) = index;
    let broken = broken_promise(context, keyed, id, field);
    let severity = if broken.is_some() { Severity::Error } else { Severity::Warning };
    let message = format!("items of {} without `{}` are missing from `{}`", keyed.entity.name, own.name, index.name);
    let finding = Diagnostic::new(RULE.code, severity, keyed.place_of(span), message).also(own.type_span, "optional");
    let finding = match broken {
        Some(read) => finding.also(read.name_span, "is meant to find all of them"),
        None => finding,
    };
    finding
        .help(format!("make `{}` required, or, if this is intended, mark index `{}` as `sparse`", own.name, index.name))
}

/// Returns a read that promises all items of a partition or of the index but cannot find those without the optional
/// field: it lists items, and neither its parameters nor its order name the field.
fn broken_promise<'a>(context: &Context<'a>, keyed: Keyed<'_>, index: IndexId, field: FieldId) -> Option<&'a Read> {
    let in_partition = keyed.key.partition.iter().flat_map(field_places).any(|(id, _)| id == field);
    let name = &keyed.entity.field(field).name;
    reading::reads_through(context.model, keyed.id, Some(index)).find(|read| {
        let asks = read.parameters.iter().any(|parameter| parameter.field_name == *name);
        let lists = match &read.result {
            Result::Parts(parts) => {
                parts.iter().any(|(id, number, _)| *id == Some(keyed.id) && *number == Number::Many)
            }
            Result::Count(..) => true,
        };
        read.scan.is_some()
            || (lists
                && !in_partition
                && !asks
                && read.ordered.is_none_or(|((of, by), _, _)| (of, by) != (keyed.id, field)))
    })
}
