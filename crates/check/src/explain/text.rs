//! Formats explanations as text. JSON shows the table first, and puts a value on one line where it fits.

use serde_json::Value;

use super::Explanation;

/// Maximum line width of JSON.
const COLUMNS_MAX: usize = 110;

/// Order of request members for readability; others follow by name.
pub(super) const FIRST: [&str; 10] = [
    "TableName",
    "IndexName",
    "Key",
    "KeyConditionExpression",
    "FilterExpression",
    "UpdateExpression",
    "ConditionExpression",
    "ProjectionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
];

/// Formats all explanations, one after the other.
#[must_use]
pub fn text(explanations: &[Explanation]) -> String {
    explanations.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn one(explanation: &Explanation) -> String {
    let mut text = format!("{}\n", explanation.signature);
    for line in &explanation.plan {
        text.push_str(&format!("  {line}\n"));
    }
    if let (Some(operation), Some(request)) = (explanation.operation, &explanation.request) {
        text.push_str(&format!("\n  {operation} {}\n", json(request, 2)));
    }
    if let Some(command) = &explanation.command {
        text.push_str(&format!("\n  {}\n", command.replace('\n', "\n  ")));
    }
    text
}

/// Returns the members of an object in reading order.
pub(super) fn members(object: &serde_json::Map<String, Value>) -> Vec<(&String, &Value)> {
    let rank = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
    let mut members: Vec<(&String, &Value)> = object.iter().collect();
    members.sort_by_key(|(name, _)| rank(name));
    members
}

/// Formats JSON that begins at a column of the line.
fn json(value: &Value, indent: usize) -> String {
    let short = on_one_line(value);
    let is_leaf = !matches!(value, Value::Object(_) | Value::Array(_));
    if is_leaf || (indent + short.len() <= COLUMNS_MAX && depth(value) <= 2) {
        return short;
    }
    let inner = indent + 2;
    let lines: Vec<String> = match value {
        Value::Object(object) => {
            let named = members(object).into_iter();
            named.map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), json(value, inner))).collect()
        }
        Value::Array(parts) => parts.iter().map(|part| json(part, inner)).collect(),
        _ => vec![short],
    };
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    let gap = format!("\n{:inner$}", "");
    format!("{open}{gap}{}\n{:indent$}{close}", lines.join(&format!(",{gap}")), "")
}

fn on_one_line(value: &Value) -> String {
    match value {
        Value::Object(object) if object.is_empty() => "{}".to_owned(),
        Value::Object(object) => {
            let named = members(object).into_iter();
            let parts: Vec<String> =
                named.map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), on_one_line(value))).collect();
            format!("{{ {} }}", parts.join(", "))
        }
        Value::Array(parts) => format!("[{}]", parts.iter().map(on_one_line).collect::<Vec<_>>().join(", ")),
        leaf => leaf.to_string(),
    }
}

/// Returns the nesting depth of objects and lists.
fn depth(value: &Value) -> usize {
    match value {
        Value::Object(object) => 1 + object.values().map(depth).max().unwrap_or(0),
        Value::Array(parts) => 1 + parts.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
