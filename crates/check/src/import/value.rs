//! Parses JSON or YAML into one form.

use serde_json::{Map, Value};
use serde_yaml_ng::Value as Yaml;

use super::ImportError;

/// Parses JSON or YAML. A tag such as `!Sub "a-${b}"` becomes `{"Fn::Sub": "a-${b}"}`, as in CloudFormation's JSON.
pub(super) fn read(text: &str) -> Result<Value, ImportError> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let yaml: Yaml = serde_yaml_ng::from_str(text).map_err(|error| ImportError::Unreadable(error.to_string()))?;
    Ok(plain(yaml))
}

fn plain(yaml: Yaml) -> Value {
    match yaml {
        Yaml::Null => Value::Null,
        Yaml::Bool(value) => Value::Bool(value),
        Yaml::Number(number) => number.to_string().parse().map_or(Value::Null, Value::Number),
        Yaml::String(text) => Value::String(text),
        Yaml::Sequence(items) => items.into_iter().map(plain).collect(),
        Yaml::Mapping(entries) => {
            let pairs = entries.into_iter().filter_map(|(key, value)| Some((key.as_str()?.to_owned(), plain(value))));
            Value::Object(pairs.collect())
        }
        Yaml::Tagged(tagged) => {
            let tag = tagged.tag.to_string();
            let name = tag.trim_start_matches('!');
            let function = if matches!(name, "Ref" | "Condition") { name.to_owned() } else { format!("Fn::{name}") };
            Value::Object(Map::from_iter([(function, plain(tagged.value))]))
        }
    }
}
