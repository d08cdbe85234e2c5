//! Reads the legacy members of a request from JSON.

use keyform_core::{AttributeValue, Error};

use crate::json::{Kind, Reader};
use crate::value::{Checked, attribute_value};

/// Legacy members before they are checked. Maps keep the order of the request.
#[derive(Default)]
pub(crate) struct LegacyParameters {
    pub(crate) expected: Option<Vec<(String, LegacyCondition)>>,
    pub(crate) attribute_updates: Option<Vec<(String, AttributeUpdate)>>,
    pub(crate) key_conditions: Option<Vec<(String, LegacyCondition)>>,
    pub(crate) query_filter: Option<Vec<(String, LegacyCondition)>>,
    pub(crate) scan_filter: Option<Vec<(String, LegacyCondition)>>,
    pub(crate) attributes_to_get: Option<Vec<String>>,
    pub(crate) conditional_operator: Option<String>,
}

/// Condition on one attribute: an element of Expected, KeyConditions, QueryFilter or ScanFilter.
#[derive(Default)]
pub(crate) struct LegacyCondition {
    pub(crate) operator: Option<String>,
    pub(crate) operands: Option<Vec<Checked<AttributeValue>>>,
    pub(crate) value: Option<Checked<AttributeValue>>,
    pub(crate) exists: Option<bool>,
}

/// An element of AttributeUpdates.
#[derive(Default)]
pub(crate) struct AttributeUpdate {
    pub(crate) value: Option<Checked<AttributeValue>>,
    pub(crate) action: Option<String>,
}

/// Reads the legacy member with this name; skips other members.
pub(crate) fn member(parameters: &mut LegacyParameters, reader: &mut Reader<'_>, name: &str) -> Result<(), Error> {
    match name {
        "Expected" => parameters.expected = map(reader, "ExpectedAttributeValue", condition)?,
        "AttributeUpdates" => parameters.attribute_updates = map(reader, "AttributeValueUpdate", update)?,
        "KeyConditions" => parameters.key_conditions = map(reader, "Condition", condition)?,
        "QueryFilter" => parameters.query_filter = map(reader, "Condition", condition)?,
        "ScanFilter" => parameters.scan_filter = map(reader, "Condition", condition)?,
        "AttributesToGet" => parameters.attributes_to_get = reader.opt_strings()?,
        "ConditionalOperator" => parameters.conditional_operator = reader.opt_string()?,
        _ => reader.skip()?,
    }
    Ok(())
}

fn map<T>(
    reader: &mut Reader<'_>,
    class: &str,
    element: fn(&mut Reader<'_>) -> Result<T, Error>,
) -> Result<Option<Vec<(String, T)>>, Error> {
    reader.opt_entries(class, usize::MAX, element)
}

fn condition(reader: &mut Reader<'_>) -> Result<LegacyCondition, Error> {
    let mut condition = LegacyCondition::default();
    reader.opt_structure("Condition", |reader, name| {
        match name {
            "ComparisonOperator" => condition.operator = reader.opt_string()?,
            "AttributeValueList" => condition.operands = operands(reader)?,
            "Value" => condition.value = opt_value(reader)?,
            "Exists" => condition.exists = reader.opt_bool()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(condition)
}

fn opt_value(reader: &mut Reader<'_>) -> Result<Option<Checked<AttributeValue>>, Error> {
    match reader.peek()? {
        Kind::Null => reader.literal(Kind::Null).map(|()| None),
        _ => attribute_value(reader).map(Some),
    }
}

fn operands(reader: &mut Reader<'_>) -> Result<Option<Vec<Checked<AttributeValue>>>, Error> {
    let mut operands = Vec::new();
    let present = reader.opt_list(|reader| {
        operands.push(attribute_value(reader)?);
        Ok(())
    })?;
    Ok(present.then_some(operands))
}

fn update(reader: &mut Reader<'_>) -> Result<AttributeUpdate, Error> {
    let mut update = AttributeUpdate::default();
    reader.opt_structure("AttributeValueUpdate", |reader, name| {
        match name {
            "Value" => update.value = opt_value(reader)?,
            "Action" => update.action = reader.opt_string()?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(update)
}
