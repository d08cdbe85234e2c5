//! Checks each item on its own: missing attributes and values that do not fit.

use crate::samples::{Item, Value};
use keyform_language::bind::when_absent;
use keyform_language::diagnostic::Diagnostic;
use keyform_language::scalar::Resolution;
use keyform_language::schema::{Entity, EntityId, Field, FieldId, Model, Part, Type};

use super::RULE;

const PARTITION_BYTES_MAX: usize = 2048;
const SORT_BYTES_MAX: usize = 1024;

pub(super) fn judge(model: &Model, id: EntityId, items: &[&Item], findings: &mut Vec<Diagnostic>) {
    let entity = model.entity(id);
    for (number, field) in entity.fields.iter().enumerate() {
        findings.extend(missing(entity, field, items));
        findings.extend(types(field, items));
        findings.extend(times(field, items));
        findings.extend(delimiter(entity, FieldId(number), items));
    }
    findings.extend(long(entity, items));
}

fn missing(entity: &Entity, field: &Field, items: &[&Item]) -> Option<Diagnostic> {
    let lacking = items.iter().filter(|item| !item.contains_key(&field.name)).count();
    let is_needed = field.must_have_value() && when_absent(field).is_none() && !is_in_key(entity, field);
    (lacking > 0 && is_needed).then(|| {
        Diagnostic::warning(
            RULE.code,
            field.name_span,
            format!("{lacking} of {} items of {} have no `{}`", items.len(), entity.name, field.name),
        )
        .label("required")
        .help("make it optional, or set it with an `evolve`")
    })
}

/// Returns whether a key contains the field, from which reads derive it.
fn is_in_key(entity: &Entity, field: &Field) -> bool {
    let mut fields = entity.key.iter().chain(&entity.indexes).flat_map(|key| key.fields());
    fields.any(|id| entity.field(id).name == field.name)
}

fn stored(kind: &Type) -> Option<&'static str> {
    match kind.resolved() {
        kind if kind.is_text() => Some("S"),
        kind if kind.is_numeric() => Some("N"),
        kind if kind.is_bool() => Some("BOOL"),
        _ => None,
    }
}

fn types(field: &Field, items: &[&Item]) -> Option<Diagnostic> {
    let wanted = stored(&field.kind)?;
    let is_other =
        |value: &&Value| value.type_name() != wanted && !((field.null || field.optional) && **value == Value::Null);
    let other = items.iter().filter_map(|item| item.get(&field.name)).find(is_other)?;
    Some(
        Diagnostic::warning(
            RULE.code,
            field.type_span,
            format!("`{}` is stored as {}, not as {wanted}", field.name, other.type_name()),
        )
        .help("declare the type that is stored, or convert the items"),
    )
}

fn times(field: &Field, items: &[&Item]) -> Option<Diagnostic> {
    let is_fixed = |text: &&str| {
        text.len() == 24 && text.ends_with('Z') && text.as_bytes()[10] == b'T' && text.as_bytes()[19] == b'.'
    };
    let resolution = field.kind.time().map(|time| time.resolution);
    let is_timestamp = field.kind.is_text() && resolution == Some(Resolution::Milliseconds);
    let mut texts = items.iter().filter_map(|item| item.get(&field.name)?.text());
    let odd = texts.find(|text| is_timestamp && !is_fixed(text))?;
    Some(
        Diagnostic::warning(
            RULE.code,
            field.type_span,
            format!("`{}` is written as \"{odd}\", which does not sort with the others", field.name),
        )
        .label("24 characters, UTC, milliseconds")
        .help("convert the items, or declare a `datetime` and keep it out of sort keys"),
    )
}

/// Reports a value that contains the delimiter after its field in a template.
fn delimiter(entity: &Entity, id: FieldId, items: &[&Item]) -> Option<Diagnostic> {
    let templates = entity.key.iter().chain(&entity.indexes).flat_map(|key| key.parts()).map(|part| &part.template);
    for template in templates {
        for pair in template.parts.windows(2) {
            let [Part::Field { field, span, .. }, Part::Text(text)] = pair else { continue };
            let name = &entity.field(id).name;
            let values = || items.iter().filter_map(|item| item.get(name)?.text());
            let holds = |value: &&str| text.chars().next().is_some_and(|delimiter| value.contains(delimiter));
            if let Some(value) = values().find(holds).filter(|_| *field == id) {
                return Some(
                    Diagnostic::warning(RULE.code, *span, format!("`{name}` can be \"{value}\", which contains the \
                        delimiter \"{text}\""))
                        .help("make the field the last of its template, write it as `{…:hash}`, or keep the delimiter out of it"),
                );
            }
        }
    }
    None
}

fn long(entity: &Entity, items: &[&Item]) -> Option<Diagnostic> {
    let key = entity.key.as_ref()?;
    let limits = key
        .partition
        .iter()
        .map(|part| (part, PARTITION_BYTES_MAX))
        .chain(key.sort.iter().map(|part| (part, SORT_BYTES_MAX)));
    for (part, limit) in limits {
        let longest =
            items.iter().filter_map(|item| item.get(&part.attribute)?.text()).map(str::len).max().unwrap_or(0);
        if longest * 2 > limit {
            let message = format!("a key of {} has {longest} bytes; the limit is {limit}", entity.name);
            return Some(
                Diagnostic::warning(RULE.code, part.template.span, message)
                    .help("limit the length of its fields, or write a hash"),
            );
        }
    }
    None
}
