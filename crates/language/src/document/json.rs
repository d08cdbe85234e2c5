//! JSON form of a model: the same tree, for programs that generate or read models.
//!
//! The conversion is lossless: a model that goes to JSON and back formats as before. The JSON Schema of the form
//! ([`schema`]) is published as `docs/model.schema.json`. [`from_json`] accepts a model only if it can be written as
//! text. It therefore rejects, for example, a name with a line break or an operator without operands.

use std::fmt;

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::ast::{Declaration, Document};
use super::{parse, print};

/// Maximum nesting of JSON input. No valid model is nested deeper; the limit protects the stack from hostile input.
const DEPTH_MAX: usize = 400;

/// Reason a JSON text is not a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonError {
    /// Not valid JSON, or nested too deep.
    Syntax(String),
    /// A part does not match the JSON Schema.
    Form {
        /// Path of the part, such as `declarations[2].value.name`.
        path: String,
        /// Description of the mismatch.
        message: String,
    },
    /// A part matches the JSON Schema, but has no equivalent in the text form.
    Unwritable {
        /// Path of the part, such as `declarations[2].value.name`.
        path: String,
        /// Reason it cannot be written as text.
        message: String,
    },
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) => write!(f, "invalid JSON: {message}"),
            Self::Form { path, message } => write!(f, "{path}: {message}"),
            Self::Unwritable { path, message } => write!(f, "{path} cannot be written as a model: {message}"),
        }
    }
}

impl std::error::Error for JsonError {}

/// Converts a model to its JSON form.
///
/// ```
/// use keyform_language::document::{json, parse, print};
///
/// let (document, _) = parse("model chat\n");
/// let text = json::to_json(&document).to_string();
/// assert_eq!(text, r#"{"declarations":[{"declare":"model","value":"chat"}]}"#);
/// assert_eq!(print(&json::from_json(&text).unwrap()), "model chat\n");
/// ```
#[must_use]
pub fn to_json(document: &Document) -> Value {
    serde_json::to_value(document).expect("every part of a document has a JSON form")
}

/// Converts a model to its JSON form without comments and blank lines: equal for two texts that say the same.
#[must_use]
pub fn to_bare_json(document: &Document) -> Value {
    let mut value = to_json(document);
    without_notes(&mut value);
    value
}

/// Returns the JSON Schema of the JSON form.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(Document).into()
}

/// Parses the JSON form of a model. Spans in the returned tree refer to the formatted text of the model.
///
/// # Errors
///
/// Returns [`JsonError`] if the text is not JSON, does not match the schema, or has no equivalent in the text form.
pub fn from_json(text: &str) -> Result<Document, JsonError> {
    let value = value(text)?;
    let document = document(&value)?;
    let written = to_json(&document);
    if let Some((path, key)) = unknown_key(&value, &written, "") {
        return Err(JsonError::Form { path: at(&path), message: format!("unknown key `{key}`") });
    }
    writable(&document, written)
}

/// Parses JSON after checking its nesting depth.
fn value(text: &str) -> Result<Value, JsonError> {
    if deepest(text) > DEPTH_MAX {
        return Err(JsonError::Syntax(format!("it is nested more than {DEPTH_MAX} levels deep")));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    reader.disable_recursion_limit();
    let read = Value::deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| JsonError::Syntax(error.to_string()))
}

/// Returns the maximum bracket depth, ignoring brackets inside strings.
fn deepest(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Deserializes the tree one declaration at a time, so that an error names the declaration.
fn document(value: &Value) -> Result<Document, JsonError> {
    let form = |path: String, message: String| JsonError::Form { path, message };
    let Some(all) = value.get("declarations").and_then(Value::as_array) else {
        return Err(form(at(""), "a model has a list of `declarations`".to_owned()));
    };
    let mut declarations = Vec::with_capacity(all.len());
    for (number, part) in all.iter().enumerate() {
        let declaration = Declaration::deserialize(part);
        declarations.push(declaration.map_err(|error| form(named(number, part), error.to_string()))?);
    }
    let tail = value.get("tail").map(Vec::<String>::deserialize).transpose();
    let tail = tail.map_err(|error| form("tail".to_owned(), error.to_string()))?;
    Ok(Document { declarations, tail: tail.unwrap_or_default() })
}

/// `declarations[2] (entity User)`
fn named(number: usize, part: &Value) -> String {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let name = text(part.pointer("/value/name")).or_else(|| text(part.get("value")));
    let words: Vec<String> = text(part.get("declare")).into_iter().chain(name).collect();
    let of = if words.is_empty() { String::new() } else { format!(" ({})", words.join(" ")) };
    format!("declarations[{number}]{of}")
}

/// Returns the path and name of the first key that the schema does not define. `deny_unknown_fields` does not work with
/// the flattened `Line`, so the input is compared with what was read.
fn unknown_key(given: &Value, known: &Value, path: &str) -> Option<(String, String)> {
    match (given, known) {
        (Value::Object(given), Value::Object(known)) => unknown_in_object(given, known, path),
        (Value::Array(given), Value::Array(known)) => given
            .iter()
            .zip(known)
            .enumerate()
            .find_map(|(number, (given, known))| unknown_key(given, known, &format!("{path}[{number}]"))),
        _ => None,
    }
}

fn unknown_in_object(given: &Map<String, Value>, known: &Map<String, Value>, path: &str) -> Option<(String, String)> {
    given.iter().find_map(|(key, value)| match known.get(key) {
        Some(known) => unknown_key(value, known, &format!("{path}.{key}")),
        None if is_default(value) => None,
        None => Some((path.to_owned(), key.clone())),
    })
}

/// Returns true if serialization omits the value because it is the default.
fn is_default(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(elements) => elements.is_empty(),
        Value::Object(fields) => fields.values().all(is_default),
        Value::Bool(true) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Formats and re-parses the document, and returns the new tree if both trees are equal.
fn writable(document: &Document, mut written: Value) -> Result<Document, JsonError> {
    let text = print(document);
    let (read, mistakes) = parse(&text);
    let mut again = to_json(&read);
    without_notes(&mut written);
    without_notes(&mut again);
    let mistake = mistakes.first().map(|mistake| mistake.message.clone());
    match (difference(&written, &again, ""), mistake) {
        (None, None) => Ok(read),
        (path, message) => Err(JsonError::Unwritable {
            path: at(&path.unwrap_or_default()),
            message: message.unwrap_or_else(|| "its text would be parsed as something else".to_owned()),
        }),
    }
}

/// Removes comments and blank lines before the comparison, because formatting may attach them to another line.
fn without_notes(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, value| !(key == "notes" && value.is_object()) && key != "tail");
            fields.values_mut().for_each(without_notes);
        }
        Value::Array(elements) => elements.iter_mut().for_each(without_notes),
        _ => {}
    }
}

/// Returns the path of the first difference.
fn difference(first: &Value, second: &Value, path: &str) -> Option<String> {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) if first.keys().eq(second.keys()) => first
            .iter()
            .zip(second.values())
            .find_map(|((key, first), second)| difference(first, second, &format!("{path}.{key}"))),
        (Value::Array(first), Value::Array(second)) if first.len() == second.len() => first
            .iter()
            .zip(second)
            .enumerate()
            .find_map(|(number, (first, second))| difference(first, second, &format!("{path}[{number}]"))),
        _ => (first != second).then(|| path.to_owned()),
    }
}

/// Returns the path as an error message shows it.
fn at(path: &str) -> String {
    let path = path.trim_start_matches('.');
    if path.is_empty() { "the model".to_owned() } else { path.to_owned() }
}
