//! Single-item requests: PutItem, GetItem, UpdateItem, DeleteItem.

use keyform_core::error::constraint::{Violations, detected};
use keyform_core::error::request;
use keyform_core::expression::{Condition, Update};
use keyform_core::operation::{DeleteItem, GetItem, PutItem, UpdateItem, WriteOptions};
use keyform_core::{Attributes, Error};

use super::parameters::Parameters;
use super::{Body, choice, mixture, table_name};
use crate::expressions::Expressions;
use crate::value::Checked;
use crate::{Echo, legacy};

const PUT: &[&str] = &[
    "TableName",
    "Item",
    "ConditionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "ReturnValues",
    "ReturnValuesOnConditionCheckFailure",
    "ReturnConsumedCapacity",
    "ReturnItemCollectionMetrics",
    "Expected",
    "ConditionalOperator",
];

const DELETE: &[&str] = &[
    "TableName",
    "Key",
    "ConditionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "ReturnValues",
    "ReturnValuesOnConditionCheckFailure",
    "ReturnConsumedCapacity",
    "ReturnItemCollectionMetrics",
    "Expected",
    "ConditionalOperator",
];

const UPDATE: &[&str] = &[
    "TableName",
    "Key",
    "UpdateExpression",
    "ConditionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "ReturnValues",
    "ReturnValuesOnConditionCheckFailure",
    "ReturnConsumedCapacity",
    "ReturnItemCollectionMetrics",
    "AttributeUpdates",
    "Expected",
    "ConditionalOperator",
];

const GET: &[&str] = &[
    "TableName",
    "Key",
    "ProjectionExpression",
    "ExpressionAttributeNames",
    "ConsistentRead",
    "ReturnConsumedCapacity",
    "AttributesToGet",
];

/// Reads a PutItem.
pub(super) fn put(body: Body<'_>) -> Result<(PutItem, Echo), Error> {
    let (mut parameters, mut echo) = body.read(|reader| Parameters::read(reader, "PutItemInput", PUT))?;
    let (item, condition) = check_put(&mut parameters).map_err(detected)?;
    let request = PutItem { item, options: options(condition, &parameters), table: echo.resolve(parameters.table) };
    Ok((request, echo))
}

/// Reads a DeleteItem.
pub(super) fn delete(body: Body<'_>) -> Result<(DeleteItem, Echo), Error> {
    let (mut parameters, mut echo) = body.read(|reader| Parameters::read(reader, "DeleteItemInput", DELETE))?;
    let (key, condition) = check_delete(&mut parameters).map_err(detected)?;
    let request = DeleteItem { key, options: options(condition, &parameters), table: echo.resolve(parameters.table) };
    Ok((request, echo))
}

/// Reads an UpdateItem.
pub(super) fn update(body: Body<'_>) -> Result<(UpdateItem, Echo), Error> {
    let (mut parameters, mut echo) = body.read(|reader| Parameters::read(reader, "UpdateItemInput", UPDATE))?;
    let (key, update, condition) = check_update(&mut parameters).map_err(detected)?;
    let legacy_update = legacy::update(parameters.legacy.attribute_updates.take())?;
    let request = UpdateItem {
        key,
        update: update.or(legacy_update),
        options: options(condition, &parameters),
        table: echo.resolve(parameters.table),
    };
    Ok((request, echo))
}

/// Reads a GetItem.
pub(super) fn get(body: Body<'_>) -> Result<(GetItem, Echo), Error> {
    let (mut parameters, mut echo) = body.read(|reader| Parameters::read(reader, "GetItemInput", GET))?;
    check_typed(parameters.key.as_ref())?;
    let mut violations = Violations::new();
    check_key_given(&mut violations, &parameters);
    table_name::check(&mut violations, parameters.table.as_deref());
    choice::check_return_capacity(&mut violations, &parameters);
    check_attributes_to_get(&mut violations, &parameters);
    violations.finish()?;
    mixture::check(&parameters)?;
    let mut expressions = Expressions::of(&mut parameters)?;
    let key = parameters.key.take().transpose()?.unwrap_or_default();
    let legacy_projection = legacy::projection(parameters.legacy.attributes_to_get.take())?;
    let projection = expressions.projection(parameters.projection.as_deref())?;
    expressions.finish()?;
    let request = GetItem {
        key,
        projection: projection.or(legacy_projection),
        consistent: parameters.consistent.unwrap_or(false),
        return_capacity: choice::return_capacity(parameters.return_capacity.as_deref()),
        table: echo.resolve(parameters.table),
    };
    Ok((request, echo))
}

fn options(condition: Option<Condition>, parameters: &Parameters) -> WriteOptions {
    WriteOptions {
        condition,
        return_values: choice::return_values(parameters.return_values.as_deref()),
        return_item_on_failure: choice::return_item_on_failure(parameters.return_on_failure.as_deref()),
        return_capacity: choice::return_capacity(parameters.return_capacity.as_deref()),
        return_metrics: choice::return_metrics(parameters.return_metrics.as_deref()),
    }
}

/// Rejects an empty AttributesToGet.
pub(super) fn check_attributes_to_get(violations: &mut Violations, parameters: &Parameters) {
    if parameters.legacy.attributes_to_get.as_ref().is_some_and(Vec::is_empty) {
        violations.short("[]", "attributesToGet", 1);
    }
}

fn check_put(parameters: &mut Parameters) -> Result<(Attributes, Option<Condition>), Error> {
    check_typed(parameters.item.as_ref())?;
    let mut violations = Violations::new();
    table_name::check(&mut violations, parameters.table.as_deref());
    if parameters.item.is_none() {
        violations.null("item");
    }
    choice::check_write(&mut violations, parameters);
    violations.finish()?;
    mixture::check(parameters)?;
    let expressions = Expressions::of(parameters)?;
    let item = parameters.item.take().transpose()?.unwrap_or_default();
    let condition = condition(expressions, parameters)?;
    check_return_old(parameters)?;
    Ok((item, condition.or(legacy::expected(&mut parameters.legacy)?)))
}

fn check_delete(parameters: &mut Parameters) -> Result<(Attributes, Option<Condition>), Error> {
    let (key, expressions) = check_keyed_write(parameters, choice::check_write)?;
    check_return_old(parameters)?;
    let legacy = legacy::expected(&mut parameters.legacy)?;
    Ok((key, condition(expressions, parameters)?.or(legacy)))
}

type CheckedUpdate = (Attributes, Option<Update>, Option<Condition>);

fn check_update(parameters: &mut Parameters) -> Result<CheckedUpdate, Error> {
    let (key, mut expressions) = check_keyed_write(parameters, choice::check_update)?;
    legacy::check_updates(parameters.legacy.attribute_updates.as_deref())?;
    let legacy_condition = legacy::expected(&mut parameters.legacy)?;
    let update = expressions.update(parameters.update.as_deref())?;
    let condition = expressions.condition(parameters.condition.as_deref())?;
    expressions.finish()?;
    Ok((key, update, condition.or(legacy_condition)))
}

fn check_keyed_write(
    parameters: &mut Parameters,
    check_choices: fn(&mut Violations, &Parameters),
) -> Result<(Attributes, Expressions), Error> {
    check_typed(parameters.key.as_ref())?;
    let mut violations = Violations::new();
    table_name::check(&mut violations, parameters.table.as_deref());
    check_key_given(&mut violations, parameters);
    check_choices(&mut violations, parameters);
    violations.finish()?;
    mixture::check(parameters)?;
    let expressions = Expressions::of(parameters)?;
    Ok((parameters.key.take().transpose()?.unwrap_or_default(), expressions))
}

/// Rejects an attribute value with no type or several types, which DynamoDB reports before anything else.
fn check_typed(attributes: Option<&Checked<Attributes>>) -> Result<(), Error> {
    match attributes {
        Some(Err(problem)) if request::is_about_types(problem) => Err(problem.clone()),
        _ => Ok(()),
    }
}

fn check_key_given(violations: &mut Violations, parameters: &Parameters) {
    if parameters.key.is_none() {
        violations.null("key");
    }
}

fn check_return_old(parameters: &Parameters) -> Result<(), Error> {
    match parameters.return_values.as_deref() {
        None | Some("NONE" | "ALL_OLD") => Ok(()),
        Some(_) => Err(request::return_values_of_update_only()),
    }
}

fn condition(mut expressions: Expressions, parameters: &Parameters) -> Result<Option<Condition>, Error> {
    let condition = expressions.condition(parameters.condition.as_deref())?;
    expressions.finish()?;
    Ok(condition)
}
