//! Formats members of a request as DynamoDB's error messages do, which is the `toString` format of its Java objects.
//!
//! ```text
//! {tab=[WriteRequest(putRequest=PutRequest(item={pk=AttributeValue(s=a, n=null, …)}, …), deleteRequest=null)]}
//! ```

use keyform_core::{AttributeValue, Attributes};

use super::parameters::{BadValue, Names, Parameters, Values};
use crate::value::Checked;

/// Fields of an AttributeValue in `toString` order.
const VALUE_FIELDS: [&str; 16] = [
    "s",
    "n",
    "b",
    "iNT",
    "dECIMAL",
    "dOUBLE",
    "sS",
    "nS",
    "bS",
    "iNTSET",
    "dECIMALSET",
    "dOUBLESET",
    "m",
    "l",
    "nULL",
    "bOOL",
];

/// Limit of the formatted text. Formatted values are much larger than their JSON.
const SHOWN_BYTES_MAX: usize = 256 * 1024;

/// Formats a list: `[a, b]`.
pub(super) fn list(elements: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", join(elements))
}

/// Formats a map: `{name=value, name=value}`.
pub(super) fn map(entries: impl IntoIterator<Item = (String, String)>) -> String {
    format!("{{{}}}", join(entries.into_iter().map(|(name, value)| format!("{name}={value}"))))
}

/// Formats an object: `Class(field=value, field=value)`.
pub(super) fn object(class: &str, fields: &[(&str, String)]) -> String {
    format!("{class}({})", join(fields.iter().map(|(name, value)| format!("{name}={value}"))))
}

/// Joins elements with commas, up to the limit.
fn join(elements: impl IntoIterator<Item = String>) -> String {
    let mut shown = String::new();
    for element in elements {
        if !shown.is_empty() {
            shown.push_str(", ");
        }
        shown.push_str(&element);
        if shown.len() > SHOWN_BYTES_MAX {
            break;
        }
    }
    shown
}

/// Formats a string, or `null` if it is absent.
pub(super) fn string(value: Option<&String>) -> String {
    value.cloned().unwrap_or_else(null)
}

/// Formats an absent value.
pub(super) fn null() -> String {
    "null".to_owned()
}

/// Formats attributes by name; invalid ones are formatted as `null`.
pub(super) fn attributes(attributes: Option<&Checked<Attributes>>) -> String {
    match attributes {
        Some(Ok(attributes)) => entries(attributes),
        _ => null(),
    }
}

/// Formats values; invalid ones are formatted as `null`.
pub(super) fn values(values: Option<&Vec<Checked<AttributeValue>>>) -> String {
    let shown = |value: &Checked<AttributeValue>| value.as_ref().map_or_else(|_| null(), value_object);
    values.map_or_else(null, |values| list(values.iter().map(shown)))
}

/// Formats ExpressionAttributeNames.
pub(super) fn names(names: Option<&Names>) -> String {
    names.map_or_else(null, |names| map(names.iter().map(|(key, name)| (key.clone(), name.clone()))))
}

/// Formats ExpressionAttributeValues.
pub(super) fn placeholders(values: Option<&Result<Values, BadValue>>) -> String {
    match values {
        Some(Ok(values)) => entries(values),
        _ => null(),
    }
}

/// Returns the fields shared by all actions of a transaction, which come last.
pub(super) fn action_fields(parameters: &Parameters) -> Vec<(&'static str, String)> {
    vec![
        ("tableName", string(parameters.table.as_ref())),
        ("conditionExpression", string(parameters.condition.as_ref())),
        ("expressionAttributeNames", names(parameters.names.as_ref())),
        ("expressionAttributeValues", placeholders(parameters.values.as_ref())),
        ("returnValuesOnConditionCheckFailure", string(parameters.return_on_failure.as_ref())),
        ("workloadProfileName", null()),
    ]
}

fn entries(attributes: &Attributes) -> String {
    map(attributes.iter().map(|(name, value)| (name.clone(), value_object(value))))
}

fn value_object(value: &AttributeValue) -> String {
    let (field, shown) = value_field(value);
    let fields = VALUE_FIELDS.map(|name| (name, if name == field { shown.clone() } else { null() }));
    object("AttributeValue", &fields)
}

/// Returns the field that holds the value, and its formatted text.
fn value_field(value: &AttributeValue) -> (&'static str, String) {
    let buffer = |bytes: &Vec<u8>| format!("java.nio.HeapByteBuffer[pos=0 lim={0} cap={0}]", bytes.len());
    match value {
        AttributeValue::S(text) => ("s", text.clone()),
        AttributeValue::N(number) => ("n", number.to_string()),
        AttributeValue::B(bytes) => ("b", buffer(bytes)),
        AttributeValue::Bool(value) => ("bOOL", value.to_string()),
        AttributeValue::Null => ("nULL", "true".to_owned()),
        AttributeValue::M(map) => ("m", entries(map)),
        AttributeValue::L(values) => ("l", list(values.iter().map(value_object))),
        AttributeValue::Ss(set) => ("sS", list(set.iter().cloned())),
        AttributeValue::Ns(set) => ("nS", list(set.iter().map(ToString::to_string))),
        AttributeValue::Bs(set) => ("bS", list(set.iter().map(buffer))),
    }
}
