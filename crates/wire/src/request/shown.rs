//! Members of a request as the service shows them in an error: the way its own objects print themselves.
//!
//! ```text
//! {tab=[WriteRequest(putRequest=PutRequest(item={pk=AttributeValue(s=a, n=null, …)}, …), deleteRequest=null)]}
//! ```

use keyform_core::{AttributeValue, Attributes};

use super::parameters::{BadValue, Names, Parameters, Values};
use crate::value::Checked;

/// The fields of an AttributeValue in the order in which they are shown.
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

/// How much is shown at the most: values print much larger than they are written.
const SHOWN_BYTES_MAX: usize = 256 * 1024;

/// `[a, b]`
pub(super) fn list(elements: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", join(elements))
}

/// `{name=value, name=value}`
pub(super) fn map(entries: impl IntoIterator<Item = (String, String)>) -> String {
    format!("{{{}}}", join(entries.into_iter().map(|(name, value)| format!("{name}={value}"))))
}

/// `Class(field=value, field=value)`
pub(super) fn object(class: &str, fields: &[(&str, String)]) -> String {
    format!("{class}({})", join(fields.iter().map(|(name, value)| format!("{name}={value}"))))
}

/// Elements with commas between, up to the most that is shown.
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

/// A string, or `null`.
pub(super) fn string(value: Option<&String>) -> String {
    value.cloned().unwrap_or_else(null)
}

/// What stands where nothing is.
pub(super) fn null() -> String {
    "null".to_owned()
}

/// Attributes by name; what is not valid is shown as missing.
pub(super) fn attributes(attributes: Option<&Checked<Attributes>>) -> String {
    match attributes {
        Some(Ok(attributes)) => entries(attributes),
        _ => null(),
    }
}

/// Values, of which each that is not valid is shown as missing.
pub(super) fn values(values: Option<&Vec<Checked<AttributeValue>>>) -> String {
    let shown = |value: &Checked<AttributeValue>| value.as_ref().map_or_else(|_| null(), value_object);
    values.map_or_else(null, |values| list(values.iter().map(shown)))
}

/// What `#name` stands for.
pub(super) fn names(names: Option<&Names>) -> String {
    names.map_or_else(null, |names| map(names.iter().map(|(key, name)| (key.clone(), name.clone()))))
}

/// What `:value` stands for.
pub(super) fn placeholders(values: Option<&Result<Values, BadValue>>) -> String {
    match values {
        Some(Ok(values)) => entries(values),
        _ => null(),
    }
}

/// The fields that all actions of a transaction end with.
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

/// The field that holds the value, and how it is shown.
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
