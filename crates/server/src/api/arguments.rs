//! Named arguments in the model's types: from the query string for reads, from a JSON object for writes.

use std::collections::BTreeMap;

use hyper::HeaderMap;
use hyper::header::CONTENT_TYPE;
use keyform_check::surface::{Argument, CURSOR, Pattern};
use keyform_core::{AttributeValue, Attributes};
use keyform_language::schema::{Model, Type};
use keyform_runtime::run::{given, json, misfit};
use serde_json::{Map, Value};

use super::problem::{self, Problem};
use crate::sigv4::query_pairs;

/// Parses the arguments and the cursor of a read.
pub(super) fn of_query(
    model: &Model,
    pattern: Pattern<'_>,
    query: &str,
) -> Result<(Attributes, Option<String>), Problem> {
    let mut pairs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in query_pairs(query) {
        pairs.entry(name.into_owned()).or_default().push(value.into_owned());
    }
    let mut arguments = Attributes::new();
    for argument in pattern.arguments(model) {
        if let Some(texts) = pairs.remove(argument.name) {
            let value = from_texts(&texts, &argument.kind);
            let typed = given::typed_or(&argument, value, || within(&argument, &texts)).map_err(wrong)?;
            arguments.insert(argument.name.to_owned(), typed);
        } else if argument.required {
            return Err(wrong(given::missing(&argument)));
        }
    }
    let cursor = match pairs.remove(CURSOR).unwrap_or_default().as_slice() {
        [] => None,
        [cursor] => Some(cursor.clone()),
        _ => return Err(wrong("more than one `cursor`".to_owned())),
    };
    match pairs.keys().next() {
        Some(name) => Err(wrong(given::unknown(pattern, name))),
        None => Ok((arguments, cursor)),
    }
}

/// Parses the values of one query parameter. Lists and sets repeat the parameter; other types take one value.
fn from_texts(texts: &[String], kind: &Type) -> Option<AttributeValue> {
    match (kind.resolved(), texts) {
        (Type::List(..) | Type::Set(..), [text]) if text.starts_with('[') => json::from_text(text, kind),
        (Type::List(of, _), texts) => {
            Some(AttributeValue::L(texts.iter().map(|text| json::from_text(text, of)).collect::<Option<_>>()?))
        }
        (Type::Set(..), texts) => json::from_json(&texts.iter().map(String::as_str).collect(), kind),
        (_, [text]) => json::from_text(text, kind),
        _ => None,
    }
}

/// Parses the arguments of a write.
pub(super) fn of_body(model: &Model, pattern: Pattern<'_>, body: &[u8]) -> Result<Attributes, Problem> {
    of_object(model, pattern, object(body)?)
}

/// Parses arguments from a JSON object. Null is the same as an absent argument.
pub(super) fn of_object(model: &Model, pattern: Pattern<'_>, given: Map<String, Value>) -> Result<Attributes, Problem> {
    given::from_object(model, pattern, given).map_err(wrong)
}

/// Parses a body into untyped arguments. An empty body is an empty object; nulls are dropped.
pub(super) fn object(body: &[u8]) -> Result<Map<String, Value>, Problem> {
    let mut given = match body.trim_ascii() {
        b"" => Map::new(),
        body => match serde_json::from_slice(body) {
            Ok(Value::Object(given)) => given,
            Ok(_) => return Err(Problem::new(problem::BODY, "the body is not a JSON object of arguments")),
            Err(error) => return Err(Problem::new(problem::BODY, format!("the body is not valid JSON: {error}"))),
        },
    };
    given.retain(|_, value| !value.is_null());
    Ok(given)
}

/// Requires `Content-Type: application/json`. A cross-origin page cannot send it without a CORS preflight, so this
/// blocks simple cross-site requests.
pub(super) fn check_content_type(headers: &HeaderMap) -> Result<(), Problem> {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let name = value.split(';').next().unwrap_or_default().trim();
    if name.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Problem::new(problem::MEDIA_TYPE, "send Content-Type: application/json"))
}

/// Locates the mismatch in a query argument that is written as JSON.
fn within(argument: &Argument<'_>, texts: &[String]) -> Option<String> {
    let [text] = texts else { return None };
    misfit(
        argument.name,
        &serde_json::from_str(text).ok().filter(|value: &Value| value.is_array() || value.is_object())?,
        &argument.kind,
    )
}

fn wrong(detail: String) -> Problem {
    Problem::new(problem::ARGUMENTS, detail)
}
