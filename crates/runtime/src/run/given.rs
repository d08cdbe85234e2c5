//! Arguments that external callers give, as JSON: parsed by the types of the model.

use keyform_check::surface::{Argument, Pattern};
use keyform_core::{AttributeValue, Attributes};
use keyform_language::schema::{Model, Test};
use serde_json::{Map, Value};

use super::{fits, in_words, json, misfit};

/// Parses arguments from a JSON object. Null is the same as an absent argument.
///
/// # Errors
///
/// Returns the message for the caller if an argument is missing, unknown or of another type.
pub fn from_object(model: &Model, pattern: Pattern<'_>, mut given: Map<String, Value>) -> Result<Attributes, String> {
    given.retain(|_, value| !value.is_null());
    let mut arguments = Attributes::new();
    for argument in pattern.arguments(model) {
        if let Some(value) = given.remove(argument.name) {
            let typed = json::from_json(&value, &argument.kind);
            let typed = typed_or(&argument, typed, || misfit(argument.name, &value, &argument.kind))?;
            arguments.insert(argument.name.to_owned(), typed);
        } else if argument.required {
            return Err(missing(&argument));
        }
    }
    match given.keys().next() {
        Some(name) => Err(unknown(pattern, name)),
        None => Ok(arguments),
    }
}

/// Returns the value if it has the argument's type. `why` locates the mismatch for the error message.
///
/// # Errors
///
/// Returns the message for the caller if the value has another type.
pub fn typed_or(
    argument: &Argument<'_>,
    value: Option<AttributeValue>,
    why: impl Fn() -> Option<String>,
) -> Result<AttributeValue, String> {
    // A prefix (`begins`) need not satisfy the format of a complete value.
    let partial = argument.parameter.test == Test::Begins;
    let value = value.filter(|value| partial || fits(value, &argument.kind));
    value.ok_or_else(|| why().unwrap_or_else(|| format!("`{}` is not {}", argument.name, in_words(&argument.kind))))
}

/// Returns the message about a missing argument.
#[must_use]
pub fn missing(argument: &Argument<'_>) -> String {
    format!("`{}` is missing", argument.name)
}

/// Returns the message about an argument that the pattern does not take.
#[must_use]
pub fn unknown(pattern: Pattern<'_>, name: &str) -> String {
    let known: Vec<&str> =
        pattern.parameters().iter().flat_map(|parameter| &parameter.arguments).map(String::as_str).collect();
    let takes = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    format!("unknown argument `{name}`; `{}` takes {takes}", pattern.name())
}
