//! K05: a key can exceed the size limit of the service.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Field, FieldId, KeyPart, Type};
use keyform_language::template::{Language, Shape, bytes_max};

use super::k02_optional_key_field::missing_sometimes;
use super::k04_empty_key::can_write_nothing;
use super::{Keyed, keys};
use crate::rules::show;

/// Size limits of DynamoDB for partition and sort keys.
const PARTITION_BYTES_MAX: usize = 2048;
const SORT_BYTES_MAX: usize = 1024;

pub(super) static RULE: Rule = Rule {
    code: Code("K05"),
    severity: Severity::Warning,
    title: "a key can be too long",
    page: include_str!("../../../../../docs/rules/K05.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut reported: Vec<Seen> = Vec::new();
    for keyed in keys(context.model) {
        for part in &keyed.key.partition {
            findings.extend(too_long(keyed, part, PARTITION_BYTES_MAX, &mut reported));
        }
        for part in &keyed.key.sort {
            findings.extend(too_long(keyed, part, SORT_BYTES_MAX, &mut reported));
        }
    }
}

/// Identifies a reported finding by the span of the field's name or of the template.
type Seen = keyform_language::span::Span;

fn too_long(keyed: Keyed<'_>, part: &KeyPart, limit: usize, reported: &mut Vec<Seen>) -> Option<Diagnostic> {
    let shape = Shape::of(&part.template, &keyed.entity.fields)?;
    if can_write_nothing(keyed, part) {
        return None;
    }
    let (seen, finding) = match bytes_max(&shape) {
        None => unbounded(keyed, &shape)?,
        Some(most) if most > limit => (part.template.span, over(keyed, part, &shape, most, limit)),
        Some(_) => return None,
    };
    if reported.contains(&seen) {
        return None;
    }
    reported.push(seen);
    Some(finding)
}

fn unbounded(keyed: Keyed<'_>, shape: &Shape<'_>) -> Option<(Seen, Diagnostic)> {
    let missing: Vec<FieldId> = missing_sometimes(keyed).into_iter().map(|(field, _)| field).collect();
    let piece = shape.pieces.iter().find(|piece| piece.language.bytes_max().is_none()).and_then(|piece| piece.field)?;
    let field = keyed.entity.field(piece.id);
    if missing.contains(&piece.id) || is_bounded_elsewhere(field) || may_be_empty(keyed, piece.id) {
        return None;
    }
    let message = format!(
        "`{}` has no maximum length, but keys do: {PARTITION_BYTES_MAX} bytes, or {SORT_BYTES_MAX} in a sort key",
        field.name
    );
    let finding = Diagnostic::warning(RULE.code, keyed.place_of(piece.span), message);
    let finding = finding.also(field.type_span, "any length").help(bound(field));
    Some((field.name_span, finding))
}

/// Returns whether K04 reports the field: it alone fills a key and can be empty.
fn may_be_empty(keyed: Keyed<'_>, field: FieldId) -> bool {
    let own = keyed.entity.key.iter().chain(&keyed.entity.indexes);
    let mut parts = own.flat_map(|key| key.partition.iter().chain(&key.sort));
    parts.any(|part| part.template.fields().eq([field]) && can_write_nothing(keyed, part))
}

/// Returns whether the field takes its type from another entity, where the missing bound is reported.
fn is_bounded_elsewhere(field: &Field) -> bool {
    matches!(field.kind, Type::Ref { .. } | Type::Copy { .. })
}

fn bound(field: &Field) -> String {
    let name = &field.name;
    match field.kind.resolved() {
        kind if kind.free_text().is_some() => {
            format!("add a limit: `{name}: string(1..128)`, or `slug(1..64)` if it has no spaces")
        }
        Type::Scalar(scalar, _) if field.kind.characters().is_some() => {
            format!("add a limit: `{name}: {}(1..64)`", scalar.keyword())
        }
        _ => format!("write `{{{name}:hash}}`, which is always 64 characters"),
    }
}

fn over(keyed: Keyed<'_>, part: &KeyPart, shape: &Shape<'_>, most: usize, limit: usize) -> Diagnostic {
    let message = format!("`{}` can have {most} bytes; the limit is {limit}", part.attribute);
    let length = |language: &Language| language.bytes_max().unwrap_or(0);
    let longest = shape.pieces.iter().filter(|piece| piece.field.is_some()).max_by_key(|piece| length(&piece.language));
    let place = longest.and_then(|piece| piece.field).map_or(part.template.span, |field| field.span);
    let finding = Diagnostic::warning(RULE.code, keyed.place_of(place), message);
    match longest.and_then(|piece| piece.field) {
        Some(field) => {
            let own = keyed.entity.field(field.id);
            let label = format!("up to {} bytes", longest.map_or(0, |piece| length(&piece.language)));
            let finding = finding.also(own.type_span, label);
            let text = show::template(keyed.entity, &part.template);
            finding.note(format!("a character takes up to 4 bytes in `{text}`")).help(format!(
                "lower the limit of `{0}`, or write `{{{0}:hash}}`, which is always 64 characters",
                field.name
            ))
        }
        None => finding.help("shorten the text"),
    }
}
