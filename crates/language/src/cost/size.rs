//! How large an item is: by the author's figure, or by its fields as the service counts them.
//!
//! An attribute takes its name's bytes and its value's: a text its UTF-8 bytes, a number one byte for two digits and one more, a truth
//! value one, a list or map three and one for each element besides what is in it.

use std::collections::BTreeSet;

use crate::schema::{Entity, EntityKey, Field, Format, Index, KeyPart, Model, Part, Type};

/// Bytes of a text without a bound, of which nothing is known.
const UNBOUNDED_TEXT_BYTES: u64 = 100;
/// Elements of a list, map or set without a bound.
const UNBOUNDED_ELEMENTS: u64 = 10;
/// What the service adds to each item and each index entry when it counts storage.
pub const OVERHEAD_BYTES: u64 = 100;

/// The mean size of an item in bytes, and whether it is assumed.
#[must_use]
pub fn item(model: &Model, entity: &Entity) -> (u64, bool) {
    match entity.volume.bytes {
        Some(bytes) => (bytes.max(1), false),
        None => (computed(model, entity), true),
    }
}

/// The largest size of an item in bytes, if the author or the types bound it.
#[must_use]
pub fn item_max(entity: &Entity) -> Option<u64> {
    entity.volume.bytes_max
}

/// The size of an item's copy in an index: the table's key, the index's, and what it projects.
#[must_use]
pub fn in_index(model: &Model, entity: &Entity, index: &Index) -> u64 {
    let (whole, _) = item(model, entity);
    let Some(projected) = &index.projection else { return whole };
    let of_table = entity.key.iter().flat_map(EntityKey::parts).map(|part| part.attribute.as_str());
    let of_index = index.partition.iter().chain(&index.sort).map(|attribute| attribute.name.as_str());
    let copied = projected.iter().map(|(name, _)| name.as_str());
    let names: BTreeSet<&str> = of_table.chain(of_index).chain(copied).collect();
    names.into_iter().map(|name| attribute(entity, name)).sum::<u64>().clamp(1, whole)
}

/// The bytes of an attribute: of a field, or of what a template makes.
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
        .map_or(0, |(tag, _)| tag.len() + entity.tag.len());
    (fields + templates + tag as u64).max(1)
}

/// The bytes of the key attributes that templates make; plain fields count as fields.
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
        Type::String(bounds) | Type::Slug(bounds) | Type::Binary(bounds) => text(bounds.min, bounds.max),
        Type::Int(_) | Type::Number => 4,
        Type::Bool | Type::Unknown => 1,
        Type::Ulid => 26,
        Type::Uuid => 36,
        Type::Email => 24,
        Type::Url => 60,
        Type::Timestamp | Type::Datetime => 24,
        Type::Epoch => 6,
        Type::EpochMs => 8,
        Type::Date => 10,
        Type::Money => 8,
        Type::OneOf(values) => values.iter().map(String::len).max().unwrap_or(0) as u64,
        Type::List(of, bounds) | Type::Map(of, bounds) => 3 + elements(bounds.max) * (1 + value(of) + key_of(kind)),
        Type::Set(of, bounds) => elements(bounds.max) * value(of),
        Type::Json => UNBOUNDED_TEXT_BYTES,
        Type::Record(fields) => 3 + fields.iter().map(|inner| 1 + field(inner)).sum::<u64>(),
        Type::Ref { .. } | Type::Copy { .. } => 0,
    }
}

/// A map's elements have names.
fn key_of(kind: &Type) -> u64 {
    if matches!(kind.resolved(), Type::Map(..)) { 8 } else { 0 }
}

fn text(min: Option<i64>, max: Option<i64>) -> u64 {
    let most = max.map_or(UNBOUNDED_TEXT_BYTES, i64::unsigned_abs);
    let least = min.map_or(0, i64::unsigned_abs);
    (least + (most.min(400) - least.min(most.min(400))) / 2).max(1)
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
