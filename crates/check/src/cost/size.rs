//! Item sizes: the declared size, or the sum of the fields as DynamoDB counts them.
//!
//! An attribute takes the bytes of its name plus its value: UTF-8 bytes for text, one byte per two digits plus one for
//! a number, one for a boolean, and three plus one per element for a list or map, besides its content.

use std::collections::BTreeSet;

use keyform_language::schema::{Entity, EntityKey, Field, Format, Index, KeyPart, Model, Part, Type};

/// Assumed bytes of any JSON value.
const JSON_BYTES: u64 = 100;
/// Assumed elements of a list, map or set without declared bounds.
const UNBOUNDED_ELEMENTS: u64 = 10;
/// Bytes that DynamoDB adds to each item and each index entry when it bills storage.
pub const OVERHEAD_BYTES: u64 = 100;

/// Returns the mean size of an item in bytes, and true if it is assumed.
#[must_use]
pub fn item(model: &Model, entity: &Entity) -> (u64, bool) {
    match entity.volume.bytes {
        Some(bytes) => (bytes.max(1), false),
        None => (computed(model, entity), true),
    }
}

/// Returns the declared maximum size of an item in bytes.
#[must_use]
pub fn item_max(entity: &Entity) -> Option<u64> {
    entity.volume.bytes_max
}

/// Returns the size of an index entry: the keys of the table and of the index, plus the projected attributes.
#[must_use]
pub fn in_index(model: &Model, entity: &Entity, index: &Index) -> u64 {
    let (whole, _) = item(model, entity);
    let Some(projected) = &index.projection else { return whole };
    let of_table = entity.key.iter().flat_map(EntityKey::parts).map(|part| part.attribute.as_str());
    let of_index = index.partition.iter().chain(&index.sort).map(|attribute| attribute.name.as_str());
    let copied = projected.iter().map(|name| name.value.as_str());
    let names: BTreeSet<&str> = of_table.chain(of_index).chain(copied).collect();
    names.into_iter().map(|name| attribute(entity, name)).sum::<u64>().clamp(1, whole)
}

/// Returns the bytes of an attribute, which is a field or a rendered template.
fn attribute(entity: &Entity, name: &str) -> u64 {
    let mut parts = entity.key.iter().chain(&entity.indexes).flat_map(EntityKey::parts);
    match (entity.field_named(name), parts.find(|part| part.attribute == name)) {
        (Some(id), _) => field(entity.field(id)),
        (None, Some(part)) => name.len() as u64 + part_bytes(entity, part),
        (None, None) => 0,
    }
}

fn computed(model: &Model, entity: &Entity) -> u64 {
    let fields: u64 = entity.fields.iter().map(field).sum();
    let templates: u64 = entity.key.iter().chain(&entity.indexes).map(|key| key_bytes(entity, key)).sum();
    let tag = entity
        .table
        .and_then(|table| model.table(table).tag.as_ref())
        .map_or(0, |tag| tag.value.len() + entity.tag.len());
    (fields + templates + tag as u64).max(1)
}

/// Returns the bytes of the key attributes that templates render; plain fields count as fields.
fn key_bytes(entity: &Entity, key: &EntityKey) -> u64 {
    let made = key.parts().filter(|part| entity.field_named(&part.attribute).is_none());
    made.map(|part| part.attribute.len() as u64 + part_bytes(entity, part)).sum()
}

fn part_bytes(entity: &Entity, part: &KeyPart) -> u64 {
    let piece = |piece: &Part| match piece {
        Part::Text(text) => text.len() as u64,
        Part::Field { field, format, .. } => formatted(&entity.field(*field).kind, *format),
        Part::Unknown { .. } => 0,
    };
    part.template.parts.iter().map(piece).sum()
}

fn formatted(kind: &Type, format: Format) -> u64 {
    match format {
        Format::Milliseconds => 13,
        Format::Seconds | Format::Day => 10,
        Format::Month => 7,
        Format::Hour => 13,
        Format::Pad(digits) => u64::from(digits),
        Format::Hash => 64,
        Format::Plain | Format::Upper | Format::Lower => value(kind),
    }
}

fn field(field: &Field) -> u64 {
    field.name.len() as u64 + value(&field.kind)
}

fn value(kind: &Type) -> u64 {
    match kind.resolved() {
        Type::Scalar(scalar, bounds) => scalar.bytes(*bounds),
        Type::Unknown => 1,
        Type::OneOf(values) => values.iter().map(String::len).max().unwrap_or(0) as u64,
        Type::List(of, bounds) | Type::Map(of, bounds) => 3 + elements(bounds.max) * (1 + value(of) + key_of(kind)),
        Type::Set(of, bounds) => elements(bounds.max) * value(of),
        Type::Json => JSON_BYTES,
        Type::Record(fields) => 3 + fields.iter().map(|inner| 1 + field(inner)).sum::<u64>(),
        Type::Ref { .. } | Type::Copy { .. } => 0,
    }
}

/// Returns the most bytes that a field can have by its bounds; what has no bound counts as nothing.
#[must_use]
pub fn field_max(field: &Field) -> u64 {
    (field.name.len() as u64).saturating_add(value_max(&field.kind))
}

fn value_max(kind: &Type) -> u64 {
    let most = |max: Option<i64>| max.map_or(0, i64::unsigned_abs);
    let kind = kind.resolved();
    match kind {
        // A character outside of ASCII has up to four bytes.
        Type::Scalar(_, bounds) if kind.free_text().is_some() => most(bounds.max).saturating_mul(4),
        Type::Scalar(_, bounds) if kind.characters().is_some() || kind.is_bytes() => most(bounds.max),
        Type::List(of, bounds) | Type::Map(of, bounds) => {
            most(bounds.max).saturating_mul(value_max(of).saturating_add(1 + key_of(kind))).saturating_add(3)
        }
        Type::Set(of, bounds) => most(bounds.max).saturating_mul(value_max(of)),
        Type::Record(fields) => fields.iter().map(field_max).fold(3, u64::saturating_add),
        Type::Scalar(..) | Type::OneOf(_) | Type::Unknown => value(kind),
        Type::Json | Type::Ref { .. } | Type::Copy { .. } => 0,
    }
}

/// Returns the assumed bytes of a map key; 0 for other types.
fn key_of(kind: &Type) -> u64 {
    if matches!(kind.resolved(), Type::Map(..)) { 8 } else { 0 }
}

fn elements(max: Option<i64>) -> u64 {
    max.map_or(UNBOUNDED_ELEMENTS, i64::unsigned_abs).min(UNBOUNDED_ELEMENTS)
}

#[cfg(test)]
mod tests {
    use super::in_index;
    use crate::Checked;

    #[test]
    fn an_index_of_keys_holds_both_keys_once() {
        let text = "model m\n\ntable Devices {\n  key deviceId\n  index bySite (siteId, deviceId) project keys\n}\n\n\
            entity Device in Devices {\n  deviceId: uuid = uuid()\n  siteId: uuid\n  note: string(1..90)\n\n  volume 20 items, 300 bytes\n}\n";
        let model = Checked::read(text).model;
        let size = in_index(&model, &model.entities[0], &model.tables[0].indexes[0]);
        assert_eq!(size, "deviceId".len() as u64 + 36 + "siteId".len() as u64 + 36);
    }
}
