//! Items: fields, the keys made of them, and the tag.

use keyform_core::{AttributeValue, Attributes};

use crate::document::ast::KeyType;
use crate::plan::{Outline, Source};
use crate::schema::{
    Action, Change, ChangeKind, Entity, Expr, ExprKind, Field, FieldId, IndexId, KeyPart, Origin, Part, Place, Table,
    Type,
};

use super::BindError;
use super::evaluate::Scope;
use super::fields::Fields;
use super::value::{self, KeyText};

/// An item made of its fields: with the keys of its table and indexes, and its tag.
///
/// # Errors
///
/// If a field of the table's key is missing, or a value cannot be written in a key.
pub fn item(table: &Table, entity: &Entity, values: &Attributes) -> Result<Attributes, BindError> {
    let fields = known_fields(entity, values);
    let outline = Outline::of(table, entity, |field| fields.contains(field));
    whole(&outline, entity, fields)
}

/// The key of an item in its table, made of its fields.
pub fn key_of_fields(table: &Table, entity: &Entity, values: &Attributes) -> Result<Attributes, BindError> {
    let known = |(number, field): (usize, &Field)| Some((FieldId(number), values.get(&field.name)?.clone()));
    key(table, entity, &entity.fields.iter().enumerate().filter_map(known).collect())
}

/// The values that an entity's fields have among these, each as its type wants it.
pub(super) fn known_fields(entity: &Entity, values: &Attributes) -> Fields {
    let value = |(number, field): (usize, &Field)| {
        let value = value::fitted(values.get(&field.name)?.clone(), &field.kind)?;
        Some((FieldId(number), value))
    };
    entity.fields.iter().enumerate().filter_map(value).collect()
}

/// The values that a new item gets, each made once, in the order of the changes: those that look at other fields come last.
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

/// What a change gives a field of a new item: the value, else the default to which it leaves the field.
fn new_value(
    scope: &Scope<'_>,
    entity: &Entity,
    change: &Change,
    expr: &Expr,
) -> Result<Option<AttributeValue>, BindError> {
    let kind = change.field.map_or(&Type::Unknown, |field| &entity.field(field).kind);
    match (scope.typed(expr, kind)?, change.fallback(entity)) {
        (None, Some(default)) => scope.typed(default, kind),
        (value, _) => Ok(value),
    }
}

/// A field stays without the value that it must have: what it is made of is not there.
pub(super) fn without_value(field: &Field, expr: &Expr) -> BindError {
    let claim = matches!(&expr.kind, ExprKind::Place(Place { origin: Origin::Caller(_), .. }));
    BindError::Missing(if claim {
        format!("what the caller proves for `{}`", field.name)
    } else {
        format!("`{}`", field.name)
    })
}

/// The values of the key fields that an action names.
pub(super) fn key_fields(scope: &Scope<'_>, entity: &Entity, action: &Action) -> Result<Fields, BindError> {
    let mut fields = Fields::of(entity.fields.len());
    for (field, expr) in &action.keys {
        let of = entity.field(*field);
        match scope.typed(expr, &of.kind)? {
            Some(value) => fields.insert(*field, value),
            None if of.must_have_value() => return Err(without_value(of, expr)),
            None => {}
        }
    }
    Ok(fields)
}

/// The attributes of the table's key.
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

/// The value of a key attribute; `None` if a field of it has no value.
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

/// The whole item: a copy of its outline, filled in.
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

/// The value of each attribute that is a key, in the order of the outline. They are made of fields, so they come before fields are moved.
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
