//! X12: a secret or personal field is in a key or copied into an index. Encrypted fields are T09.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, EntityKey, Field, Format, Part, Type};
use keyform_language::span::Span;

use crate::rules::key::{Keyed, keys};
use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("X12"),
    severity: Severity::Warning,
    title: "a key or an index exposes a secret",
    page: include_str!("../../../../../docs/rules/X12.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut reported = Vec::new();
    for keyed in keys(context.model) {
        for (field, span) in exposed(keyed) {
            if !reported.contains(&(keyed.id, field.name_span)) {
                reported.push((keyed.id, field.name_span));
                findings.push(in_key(keyed, field, span));
            }
        }
        findings.extend(copied(keyed));
    }
}

/// Returns the flag that marks the field as sensitive, with its span.
fn nature(field: &Field) -> Option<(&'static str, Span)> {
    let flags = &field.flags;
    flags.secret.map(|span| ("secret", span)).or(flags.personal.map(|span| ("personal", span)))
}

/// Returns the sensitive fields of a key. A hash is not sensitive.
fn exposed(keyed: Keyed<'_>) -> Vec<(&Field, Span)> {
    let pieces = keyed.parts().flat_map(|part| &part.template.parts);
    let fields = pieces.filter_map(|piece| match piece {
        Part::Field { field, format, span } if *format != Format::Hash => Some((keyed.entity.field(*field), *span)),
        _ => None,
    });
    fields.filter(|(field, _)| nature(field).is_some() && field.flags.encrypted.is_none()).collect()
}

fn in_key(keyed: Keyed<'_>, field: &Field, span: Span) -> Diagnostic {
    let name = &field.name;
    let (nature, flag) = nature(field).unwrap_or(("secret", field.name_span));
    let message = format!("`{name}` is {nature} and readable in {}", keyed.title());
    Diagnostic::warning(RULE.code, keyed.place_of(span), message)
        .label("keys appear in logs, metrics and traces")
        .also(flag, "marked here")
        .help(format!("write `{{{name}:hash}}`, or key by an id"))
}

/// Reports the sensitive fields that an index copies. Encrypted fields may be copied.
fn copied(keyed: Keyed<'_>) -> Option<Diagnostic> {
    let index = keyed.table.index_at(keyed.key.index?);
    let is_copied = |field: &Field| match &index.projection {
        None => true,
        Some(names) => names.iter().any(|name| name.value == field.name),
    };
    let in_a_key = |field: &Field| {
        is_in_key(keyed.entity, keyed.entity.key.as_ref(), field) || is_in_key(keyed.entity, Some(keyed.key), field)
    };
    let fields: Vec<&Field> = keyed
        .entity
        .fields
        .iter()
        .filter(|field| nature(field).is_some() && field.flags.encrypted.is_none())
        .filter(|field| is_copied(field) && !in_a_key(field) && !matches!(field.kind, Type::Unknown))
        .collect();
    let first = fields.first()?;
    let names = show::listed(fields.iter().map(|field| field.name.as_str()));
    let message = format!("`{}` holds a copy of {names} of {}", index.name, keyed.entity.name);
    let mut finding =
        Diagnostic::warning(RULE.code, keyed.key.span, message).label("anyone with access to the index can read it");
    for (nature, span) in fields.iter().filter_map(|field| nature(field)) {
        finding = finding.also(span, nature);
    }
    Some(finding.help(format!(
        "project only what its reads need: `project (…)` without `{}`, or keep it in a separate item",
        first.name
    )))
}

fn is_in_key(entity: &Entity, key: Option<&EntityKey>, field: &Field) -> bool {
    key.is_some_and(|key| key.fields().any(|id| entity.field(id).name == field.name))
}
