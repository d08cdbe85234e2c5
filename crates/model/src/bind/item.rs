//! Items: fields, the keys made of them, and the tag.

use std::borrow::Cow;
use std::collections::BTreeMap;

use keyform_core::{AttributeValue, Attributes};

use crate::document::ast::KeyType;
use crate::schema::{Action, Change, ChangeKind, Entity, EntityKey, Expr, FieldId, IndexId, KeyPart, Part, Table};

use super::BindError;
use super::evaluate::Scope;
use super::value::{self, Piece};

/// The values of an item's fields, as far as they are known.
pub(super) type Fields = BTreeMap<FieldId, AttributeValue>;

/// An item made of its fields: with the keys of its table and indexes, and its tag.
///
/// # Errors
///
/// If a field of the table's key is missing, or a value cannot be written in a key.
pub fn item(table: &Table, entity: &Entity, values: &Attributes) -> Result<Attributes, BindError> {
    let mut fields = Fields::new();
    for (number, field) in entity.fields.iter().enumerate() {
        let value = values.get(&field.name).cloned();
        if let Some(value) = value.and_then(|value| value::fitted(value, &field.kind)) {
            fields.insert(FieldId(number), value);
        }
    }
    whole(table, entity, fields)
}

/// The key of an item in its table, made of its fields.
pub(crate) fn key_of_fields(table: &Table, entity: &Entity, values: &Attributes) -> Result<Attributes, BindError> {
    let known =
        |(number, field): (usize, &crate::schema::Field)| Some((FieldId(number), values.get(&field.name)?.clone()));
    key(table, entity, &entity.fields.iter().enumerate().filter_map(known).collect())
}

/// The values that a new item gets, each made once.
pub(super) fn new_fields(scope: &mut Scope<'_>, entity: &Entity, action: &Action) -> Result<Fields, BindError> {
    let mut fields = Fields::new();
    let mut derived: Vec<&Change> = Vec::new();
    for change in &action.changes {
        if is_plain(entity, change) { add(scope, entity, change, &mut fields)? } else { derived.push(change) }
    }
    if !derived.is_empty() {
        scope.item = fields.iter().map(|(field, value)| (entity.field(*field).name.clone(), value.clone())).collect();
    }
    for change in derived {
        add(scope, entity, change, &mut fields)?;
        if let Some((field, value)) = change.field.and_then(|field| Some((field, fields.get(&field)?))) {
            scope.item.insert(entity.field(field).name.clone(), value.clone());
        }
    }
    scope.item.clear();
    Ok(fields)
}

/// Adds the value that a change gives a field, if it gives one.
fn add(scope: &Scope<'_>, entity: &Entity, change: &Change, fields: &mut Fields) -> Result<(), BindError> {
    let (Some(id), ChangeKind::Set(expr)) = (change.field, &change.kind) else { return Ok(()) };
    let field = entity.field(id);
    let mut value = scope.typed(expr, &field.kind)?;
    if let (None, Some(default)) = (&value, fallback(entity, change)) {
        value = scope.typed(default, &field.kind)?;
    }
    if let Some(value) = value {
        fields.insert(id, value);
    }
    Ok(())
}

/// The default to which an argument that was left out leaves its field.
fn fallback<'a>(entity: &'a Entity, change: &Change) -> Option<&'a Expr> {
    let field = entity.field(change.field?);
    field.default.as_ref().filter(|_| !change.written || !field.optional)
}

/// Whether a value is made of no other field.
fn is_plain(entity: &Entity, change: &Change) -> bool {
    let is_own = |expr: &Expr| expr.own_fields().is_empty();
    matches!(&change.kind, ChangeKind::Set(expr) if is_own(expr) && fallback(entity, change).is_none_or(is_own))
}

/// The values of the key fields that an action names.
pub(super) fn key_fields(scope: &Scope<'_>, entity: &Entity, action: &Action) -> Result<Fields, BindError> {
    let mut fields = Fields::new();
    for (field, expr) in &action.keys {
        if let Some(value) = scope.typed(expr, &entity.field(*field).kind)? {
            fields.insert(*field, value);
        }
    }
    Ok(fields)
}

/// The attributes of the table's key.
pub(super) fn key(table: &Table, entity: &Entity, fields: &Fields) -> Result<Attributes, BindError> {
    let key = entity.key.as_ref().ok_or_else(|| BindError::Missing(format!("the key of {}", entity.name)))?;
    let mut attributes = Attributes::new();
    for part in key.partition.iter().chain(&key.sort) {
        let value = attribute(table, None, entity, part, fields)?;
        let value = value.ok_or_else(|| BindError::Missing(missing(entity, part, fields)))?;
        attributes.insert(part.attribute.clone(), value);
    }
    Ok(attributes)
}

fn missing(entity: &Entity, part: &KeyPart, fields: &Fields) -> String {
    let unknown = part.template.fields().find(|field| !fields.contains_key(field));
    unknown.map_or_else(|| format!("`{}`", part.attribute), |field| format!("`{}`", entity.field(field).name))
}

/// The attributes of an index's key, each of them whose fields have values. An item that lacks one of them is not in the index; the
/// others are kept, so that an update that gives the missing field a value need not know theirs.
fn index_key(table: &Table, entity: &Entity, key: &EntityKey, fields: &Fields) -> Result<Attributes, BindError> {
    let mut attributes = Attributes::new();
    for part in key.partition.iter().chain(&key.sort) {
        let value = attribute(table, key.index, entity, part, fields)?;
        attributes.extend(value.map(|value| (part.attribute.clone(), value)));
    }
    Ok(attributes)
}

/// The value of a key attribute; `None` if a field of it has no value.
pub(super) fn attribute(
    table: &Table,
    index: Option<IndexId>,
    entity: &Entity,
    part: &KeyPart,
    fields: &Fields,
) -> Result<Option<AttributeValue>, BindError> {
    let mut pieces = Vec::with_capacity(part.template.parts.len());
    for piece in &part.template.parts {
        pieces.push(match piece {
            Part::Text(text) => Piece::Text(text),
            Part::Field { field, format, .. } => match fields.get(field) {
                Some(value) => Piece::Value(Cow::Borrowed(value), &entity.field(*field).kind, *format),
                None => return Ok(None),
            },
            Part::Unknown { name, .. } => return Err(BindError::Missing(format!("`{name}`"))),
        });
    }
    value::key(&pieces, kind(table, index, &part.attribute)).map(Some)
}

fn kind(table: &Table, index: Option<IndexId>, attribute: &str) -> KeyType {
    let of_index = index.map(|index| table.index_at(index));
    let attributes = of_index.into_iter().flat_map(|index| index.partition.iter().chain(&index.sort));
    let mut all = attributes.chain(&table.partition).chain(&table.sort);
    all.find(|key| key.name == attribute).map_or(KeyType::String, |key| key.kind)
}

/// The whole item.
pub(super) fn whole(table: &Table, entity: &Entity, fields: Fields) -> Result<Attributes, BindError> {
    let mut item = key(table, entity, &fields)?;
    for index in &entity.indexes {
        item.extend(index_key(table, entity, index, &fields)?);
    }
    for (field, value) in fields {
        item.entry(entity.field(field).name.clone()).or_insert(value);
    }
    if let Some((tag, _)) = &table.tag {
        item.insert(tag.clone(), entity.tag.as_str().into());
    }
    Ok(item)
}
