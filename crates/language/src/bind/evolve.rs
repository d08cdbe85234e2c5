//! Binding for migrations: values of `set`, keys from known fields, and the sentinels of an item that moves.

use keyform_core::operation::TransactAction;
use keyform_core::{AttributeValue, Attributes};

use crate::schema::{Entity, Expr, IndexId, KeyPart, Model, Table, Type};

use super::evaluate::Scope;
use super::{BindError, Inputs, item, sentinel};

/// Evaluates an expression over the fields of an item and converts it to a type; `None` if the value is absent.
pub fn value_over(
    model: &Model,
    expr: &Expr,
    kind: &Type,
    fields: &Attributes,
    inputs: &Inputs<'_>,
) -> Result<Option<AttributeValue>, BindError> {
    let scope = Scope { names: Some(fields), ..Scope::with_lets(model, inputs, &[], Vec::new()) };
    scope.typed(expr, kind)
}

/// Renders a key attribute from field values; `None` if one of its fields has no value.
pub fn key_attribute(
    table: &Table,
    index: Option<IndexId>,
    entity: &Entity,
    part: &KeyPart,
    values: &Attributes,
) -> Result<Option<AttributeValue>, BindError> {
    item::attribute(table, index, entity, part, &item::known_fields(entity, values))
}

/// Returns the actions that claim the unique values of an item, each with the name of its field.
pub fn claims(
    table: &Table,
    name: &str,
    entity: &Entity,
    values: &Attributes,
) -> Result<Vec<(String, TransactAction)>, BindError> {
    let fields = item::known_fields(entity, values);
    let mut claims = Vec::new();
    for field in crate::plan::guarded_fields(entity) {
        if let Some(key) = sentinel::key(table, entity, field, &fields)? {
            let claim = sentinel::claim(table, name.to_owned(), key, entity, &fields, None);
            claims.push((entity.field(field).name.clone(), claim));
        }
    }
    Ok(claims)
}
