//! Sample items of a real table that a model is checked against: JSON lines, plain or in DynamoDB JSON, as `scan` or an
//! export writes them.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value as Json;

/// Sample items read from one file.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Items in file order.
    pub items: Vec<Item>,
}

/// Attributes of an item by name.
pub type Item = BTreeMap<String, Value>;

/// An attribute value, reduced to the detail the checker needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// DynamoDB type S.
    Text(String),
    /// DynamoDB type N, in its original spelling.
    Number(String),
    /// DynamoDB type NULL.
    Null,
    /// Any other DynamoDB type, by its name: `B`, `M`, `SS`, …
    Other(&'static str),
}

/// A line that is not an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleError {
    /// Line number, counted from 1.
    pub line: usize,
    /// Reason the line was rejected.
    pub why: String,
}

impl fmt::Display for SampleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is not an item: {}", self.line, self.why)
    }
}

impl std::error::Error for SampleError {}

impl Samples {
    /// Parses JSON lines: `{"pk": "A"}`, `{"pk": {"S": "A"}}` or `{"Item": {"pk": {"S": "A"}}}`.
    ///
    /// # Errors
    ///
    /// Returns [`SampleError`] if a line is not a JSON object.
    pub fn read(text: &str) -> Result<Self, SampleError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let items = lines.map(|(number, line)| item(line).map_err(|why| SampleError { line: number + 1, why }));
        Ok(Self { items: items.collect::<Result<_, _>>()? })
    }
}

fn item(line: &str) -> Result<Item, String> {
    let value: Json = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let value = value.get("Item").cloned().unwrap_or(value);
    let attributes = value.as_object().ok_or("not a JSON object")?;
    let typed = attributes.values().all(is_typed);
    Ok(attributes
        .iter()
        .map(|(name, value)| (name.clone(), if typed { unwrapped(value) } else { plain(value) }))
        .collect())
}

const TYPES: [&str; 10] = ["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"];

/// Returns true if a value is in DynamoDB JSON: an object with exactly one of the ten type names as key.
fn is_typed(value: &Json) -> bool {
    value.as_object().is_some_and(|object| object.len() == 1 && object.keys().all(|key| TYPES.contains(&key.as_str())))
}

fn unwrapped(value: &Json) -> Value {
    let (name, inner) = match value.as_object().and_then(|object| object.iter().next()) {
        Some((name, inner)) => (name.as_str(), inner),
        None => return Value::Other("unknown"),
    };
    match (name, inner.as_str()) {
        ("S", Some(text)) => Value::Text(text.to_owned()),
        ("N", Some(digits)) => Value::Number(digits.to_owned()),
        ("NULL", _) => Value::Null,
        _ => Value::Other(TYPES.into_iter().find(|known| *known == name).unwrap_or("unknown")),
    }
}

fn plain(value: &Json) -> Value {
    match value {
        Json::String(text) => Value::Text(text.clone()),
        Json::Number(number) => Value::Number(number.to_string()),
        Json::Null => Value::Null,
        Json::Bool(_) => Value::Other("BOOL"),
        Json::Array(_) => Value::Other("L"),
        Json::Object(_) => Value::Other("M"),
    }
}

impl Value {
    /// Returns the string of an S or the digits of an N; `None` for other types.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text),
            Self::Null | Self::Other(_) => None,
        }
    }

    /// Returns the DynamoDB name of the type.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Text(_) => "S",
            Self::Number(_) => "N",
            Self::Null => "NULL",
            Self::Other(name) => name,
        }
    }
}
