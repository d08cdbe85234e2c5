//! Builds items: fields, the keys derived from them, and the tag.

use keyform_core::{AttributeValue, Attributes};

use crate::document::ast::{KeyType, Verb};
use crate::plan::{Outline, Source};
use crate::schema::{
    Action, Change, ChangeKind, Entity, Expr, ExprKind, Field, FieldId, IndexId, KeyPart, Origin, Part, Table,
    ValuePath,
};

use super::BindError;
use super::evaluate::Scope;
use super::fields::Fields;
use super::value::{self, KeyText};

/// Builds an item from its fields, with the keys of its table and indexes and its tag.
///
/// # Errors
///
/// Returns an error if a field of the table's key is missing or a value cannot be written in a key.
pub fn item(table: &Table, entity: &Entity, values: &Attributes) -> Result<Attributes, BindError> {
    let fields = known_fields(entity, values);
    let outline = Outline::of(table, entity, |field| fields.contains(field));
    whole(&outline, entity, fields)
}

/// Builds the primary key of an item from its fields.
pub fn key_of_fields(table: &Table, entity: &Entity, values: &Attributes) -> Result<Attributes, BindError> {
    let known = |(number, field): (usize, &Field)| Some((FieldId(number), values.get(&field.name)?.clone()));
    key(table, entity, &entity.fields.iter().enumerate().filter_map(known).collect())
}

/// Returns the known values of an entity's fields, each converted to its type.
pub(super) fn known_fields(entity: &Entity, values: &Attributes) -> Fields {
    let value = |(number, field): (usize, &Field)| {
        let value = value::fitted(values.get(&field.name)?.clone(), &field.kind)?;
        Some((FieldId(number), value))
    };
    entity.fields.iter().enumerate().filter_map(value).collect()
}

/// Evaluates the fields of a new item in the order of the changes. The resolver puts values that depend on other fields
/// last.
pub(super) fn new_fields(scope: &mut Scope<'_>, entity: &Entity, action: &Action) -> Result<Fields, BindError> {
    scope.item = Fields::of(entity.fields.len());
    for change in &action.changes {
        let (Some(field), ChangeKind::Set(expr)) = (change.field, &change.kind) else { continue };
        let of = entity.field(field);
        match new_value(scope, entity, change, expr)? {
            Some(value) => scope.item.insert(field, value),
            None if of.null => scope.item.insert(field, AttributeValue::Null),
            None if of.must_have_value() => return Err(without_value(of, expr)),
            None => {}
        }
    }
    Ok(std::mem::take(&mut scope.item))
}

/// Evaluates a change for a new item; falls back to the field's default if the value is absent.
fn new_value(
    scope: &Scope<'_>,
    entity: &Entity,
    change: &Change,
    expr: &Expr,
) -> Result<Option<AttributeValue>, BindError> {
    let Some(id) = change.field else { return Ok(None) };
    let kind = &entity.field(id).kind;
    match (scope.new_value(expr, kind, (entity, id), change)?, change.fallback(entity)) {
        (None, Some(default)) => scope.fit(default, kind, &entity.field(id).name),
        (value, _) => Ok(value),
    }
}

/// Builds the error for a required field whose source, an argument or a claim, is absent.
pub(super) fn without_value(field: &Field, expr: &Expr) -> BindError {
    let claim = matches!(&expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Caller(_), .. }));
    BindError::Missing(if claim {
        format!("the caller's claim for `{}`", field.name)
    } else {
        format!("`{}`", field.name)
    })
}

/// Evaluates the key fields that an action names.
pub(super) fn key_fields(scope: &Scope<'_>, entity: &Entity, action: &Action) -> Result<Fields, BindError> {
    let mut fields = Fields::of(entity.fields.len());
    for (field, expr) in &action.keys {
        let of = entity.field(*field);
        // An upsert may store its key; a key that does not fit finds no item.
        let value = match action.verb {
            Verb::Upsert => scope.fit(expr, &of.kind, &of.name)?,
            Verb::Create | Verb::Put | Verb::Update | Verb::Delete | Verb::Check => scope.typed(expr, &of.kind)?,
        };
        match value {
            Some(value) => fields.insert(*field, value),
            None if of.must_have_value() => return Err(without_value(of, expr)),
            None => {}
        }
    }
    Ok(fields)
}

/// Renders the attributes of the table's key.
pub(super) fn key(table: &Table, entity: &Entity, fields: &Fields) -> Result<Attributes, BindError> {
    let key = entity.key.as_ref().ok_or_else(|| BindError::Missing(format!("the key of {}", entity.name)))?;
    let mut attributes = Attributes::new();
    for part in key.parts() {
        let value = attribute(table, None, entity, part, fields)?;
        let value = value.ok_or_else(|| BindError::Missing(missing(entity, part, fields)))?;
        attributes.insert(part.attribute.clone(), value);
    }
    Ok(attributes)
}

fn missing(entity: &Entity, part: &KeyPart, fields: &Fields) -> String {
    let unknown = part.template.fields().find(|field| !fields.contains(*field));
    unknown.map_or_else(|| format!("`{}`", part.attribute), |field| format!("`{}`", entity.field(field).name))
}

/// Renders a key attribute; `None` if one of its fields has no value.
pub(super) fn attribute(
    table: &Table,
    index: Option<IndexId>,
    entity: &Entity,
    part: &KeyPart,
    fields: &Fields,
) -> Result<Option<AttributeValue>, BindError> {
    key_value(entity, part, table.key_type(index, &part.attribute), fields)
}

fn key_value(
    entity: &Entity,
    part: &KeyPart,
    kind: KeyType,
    fields: &Fields,
) -> Result<Option<AttributeValue>, BindError> {
    if let [Part::Field { field, format, .. }] = part.template.parts.as_slice()
        && value::is_key_itself(kind, *format)
    {
        return Ok(fields.get(*field).filter(|value| **value != AttributeValue::Null).cloned());
    }
    let mut text = KeyText::new();
    for piece in &part.template.parts {
        match piece {
            Part::Text(piece) => text.push_text(piece),
            Part::Field { field, format, .. } => {
                let Some(value) = fields.get(*field).filter(|value| **value != AttributeValue::Null) else {
                    return Ok(None);
                };
                text.push_value(value, &entity.field(*field).kind, *format)?;
            }
            Part::Unknown { name, .. } => return Err(BindError::Missing(format!("`{name}`"))),
        }
    }
    text.value(kind).map(Some)
}

/// Builds the whole item: clones its outline and moves the values in.
pub(super) fn whole(outline: &Outline, entity: &Entity, mut fields: Fields) -> Result<Attributes, BindError> {
    let mut keys = keys(outline, entity, &fields)?;
    let mut keys = keys.iter_mut();
    let mut item = outline.attributes.clone();
    let mut absent: Vec<usize> = Vec::new();
    for (number, (source, place)) in outline.sources.iter().zip(item.values_mut()).enumerate() {
        let value = match source {
            Source::Tag => continue,
            Source::Field(field) => fields.get_mut(*field),
            Source::Key { field, .. } => {
                let key = keys.next().and_then(Option::as_mut);
                key.or_else(|| fields.get_mut((*field)?))
            }
        };
        match value {
            Some(value) => std::mem::swap(place, value),
            None => absent.push(number),
        }
    }
    if !absent.is_empty() {
        let names = outline.attributes.keys().enumerate().filter(|(number, _)| absent.contains(number));
        names.for_each(|(_, name)| drop(item.remove(name)));
    }
    Ok(item)
}

/// Renders the key attributes in outline order. This runs first, because [`whole`] then moves the field values out.
fn keys(outline: &Outline, entity: &Entity, fields: &Fields) -> Result<Vec<Option<AttributeValue>>, BindError> {
    if entity.key.is_none() {
        return Err(BindError::Missing(format!("the key of {}", entity.name)));
    }
    let mut keys = Vec::with_capacity(outline.keys);
    for source in &outline.sources {
        let Source::Key { part, kind, required, .. } = source else { continue };
        let value = key_value(entity, part, *kind, fields)?;
        if value.is_none() && *required {
            return Err(BindError::Missing(missing(entity, part, fields)));
        }
        keys.push(value);
    }
    Ok(keys)
}
