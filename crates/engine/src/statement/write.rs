//! Translation of statements that write or test one item: INSERT, UPDATE, DELETE and EXISTS.

use keyform_core::error::partiql;
use keyform_core::expression::{Condition, Path, Update};
use keyform_core::operation::{DeleteItem, PutItem, ReturnValues, UpdateItem, WriteOptions};
use keyform_core::statement::SelectStatement;
use keyform_core::{Attributes, Error, Value};

use super::pins::{equality, parts};
use super::schema::{Schema, check_key_type, check_partition_size, check_sort_size};

/// Key of one item, and the remaining condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Key attributes of the item.
    pub key: Attributes,
    /// Rest of the WHERE clause, if any.
    pub condition: Option<Condition>,
}

/// Translates an INSERT to a put that fails if the item exists. The failure is reported as a duplicate, not as a failed
/// condition: see [`duplicate`].
///
/// # Errors
/// When a key attribute has the wrong type.
pub fn insert(schema: &Schema<'_>, table: &str, item: Attributes) -> Result<PutItem, Error> {
    for attribute in schema.key.attributes() {
        if let Some(value) = item.get(&attribute.name)
            && value.kind() != keyform_core::value::AttributeType::from(attribute.kind)
        {
            return Err(partiql::key_type(&attribute.name));
        }
    }
    Ok(put(schema, table, item))
}

/// Translates an INSERT without checking the types of the key: in a transaction, the put reports them as a cancellation
/// reason.
pub fn put(schema: &Schema<'_>, table: &str, item: Attributes) -> PutItem {
    let condition = Condition::AttributeNotExists(partition_path(schema));
    PutItem { table: table.to_owned(), item, options: condition.into() }
}

/// Turns a failed condition of an INSERT into a duplicate item error.
pub fn duplicate(error: Error) -> Error {
    if error.code() == keyform_core::ErrorCode::ConditionalCheckFailed { partiql::duplicate_item() } else { error }
}

/// Translates an UPDATE to an update that fails if the item does not exist.
///
/// # Errors
/// When the clause does not contain the whole key, or the update changes it.
pub fn update(
    schema: &Schema<'_>,
    table: &str,
    update: Update,
    condition: &Condition,
    returning: ReturnValues,
) -> Result<UpdateItem, Error> {
    let target = target(schema, condition)?;
    if let Some(path) = update.touched_paths().find(|path| schema.key.contains(path.root())) {
        return Err(partiql::key_updated(path.root()));
    }
    let exists = Condition::AttributeExists(partition_path(schema));
    let condition = match target.condition {
        Some(rest) => Condition::And(vec![exists, rest]),
        None => exists,
    };
    Ok(UpdateItem {
        table: table.to_owned(),
        key: target.key,
        update: Some(update),
        options: WriteOptions { return_values: returning, ..condition.into() },
    })
}

/// Translates a DELETE. It succeeds if the item does not exist, whatever the rest of the clause requires.
///
/// # Errors
/// When the clause does not contain the whole key.
pub fn delete(
    schema: &Schema<'_>,
    table: &str,
    condition: &Condition,
    returning: ReturnValues,
) -> Result<DeleteItem, Error> {
    let target = target(schema, condition)?;
    let missing = Condition::AttributeNotExists(partition_path(schema));
    let condition = target.condition.map(|rest| Condition::Or(vec![missing, rest]));
    Ok(DeleteItem {
        table: table.to_owned(),
        key: target.key,
        options: WriteOptions { return_values: returning, ..condition.into() },
    })
}

/// Translates EXISTS to the key of one item and a condition.
///
/// # Errors
/// When the clause does not contain the whole key, or contains nothing else.
pub fn exists(schema: &Schema<'_>, select: &SelectStatement) -> Result<(Attributes, Condition), Error> {
    let condition = select.condition.as_ref().filter(|_| select.index.is_none());
    let condition = condition.ok_or_else(partiql::exists_without_condition)?;
    match target(schema, condition) {
        Ok(Target { key, condition: Some(rest) }) => Ok((key, rest)),
        Ok(Target { condition: None, .. }) => Err(partiql::exists_without_condition()),
        Err(error) if error == partiql::key_required() => Err(partiql::exists_without_condition()),
        Err(error) => Err(error),
    }
}

/// Returns the key of the one item that a clause selects, and the rest of the clause.
///
/// # Errors
/// When the clause lacks an equality condition on a key attribute, or has two different ones.
pub fn target(schema: &Schema<'_>, condition: &Condition) -> Result<Target, Error> {
    let parts = parts(condition);
    let mut key = Attributes::new();
    for attribute in schema.key.attributes() {
        let mut values = parts.iter().filter_map(|part| equality(part, &attribute.name));
        let value = values.next().ok_or_else(partiql::key_required)?;
        if values.any(|other| other != value) {
            return Err(partiql::several_keys(&attribute.name));
        }
        check_key_type(attribute, value)?;
        key.insert(attribute.name.clone(), value.to_tree());
    }
    check_sizes(schema, &key)?;
    let is_key = |part: &Condition| schema.key.attributes().any(|attribute| equality(part, &attribute.name).is_some());
    let rest: Vec<Condition> = parts.into_iter().filter(|part| !is_key(part)).cloned().collect();
    Ok(Target { key, condition: all(rest) })
}

fn check_sizes(schema: &Schema<'_>, key: &Attributes) -> Result<(), Error> {
    let values = |names: &[crate::catalog::KeyAttribute]| -> Vec<Value> {
        names.iter().filter_map(|attribute| key.get(&attribute.name)).map(Value::from).collect()
    };
    values(&schema.key.partition).iter().try_for_each(check_partition_size)?;
    values(&schema.key.sort).iter().try_for_each(check_sort_size)
}

/// Combines conditions with AND.
pub(super) fn all(mut conditions: Vec<Condition>) -> Option<Condition> {
    match conditions.len() {
        0 | 1 => conditions.pop(),
        _ => Some(Condition::And(conditions)),
    }
}

fn partition_path(schema: &Schema<'_>) -> Path {
    Path::attribute(schema.key.partition.first().map_or("", |attribute| attribute.name.as_str()))
}
