//! JSON form: the conversion is lossless, the published schema accepts every model, and errors name the position.

use keyform_language::document::{json, parse, print};
use serde_json::{Value, json};

fn word(rule: &Value) -> &str {
    rule.as_str().expect("a text")
}

fn list(rule: &Value) -> &Vec<Value> {
    rule.as_array().expect("a list")
}

fn fields(rule: &Value) -> &serde_json::Map<String, Value> {
    rule.as_object().expect("an object")
}

fn number(rule: &Value) -> f64 {
    rule.as_f64().expect("a number")
}

/// Validates a value against a schema. Supports the JSON Schema keywords that the schema of a model uses.
fn valid(value: &Value, schema: &Value, root: &Value) -> bool {
    let Some(schema) = schema.as_object() else { return schema != &Value::Bool(false) };
    schema.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$ref" => valid(
            value,
            root.pointer(word(rule).trim_start_matches('#')).expect("a reference leads to a part of the schema"),
            root,
        ),
        "type" => has_type(value, rule),
        "const" => value == rule,
        "enum" => list(rule).contains(value),
        "properties" => {
            fields(rule).iter().all(|(key, rule)| value.get(key).is_none_or(|value| valid(value, rule, root)))
        }
        "required" => list(rule).iter().all(|key| value.get(word(key)).is_some()),
        "additionalProperties" if rule == &Value::Bool(false) => {
            let known = schema.get("properties").and_then(Value::as_object);
            value
                .as_object()
                .is_none_or(|fields| fields.keys().all(|key| known.is_some_and(|known| known.contains_key(key))))
        }
        "items" => value.as_array().is_none_or(|elements| {
            let skipped = schema.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len);
            elements.iter().skip(skipped).all(|element| valid(element, rule, root))
        }),
        "prefixItems" => {
            let pairs = value.as_array().into_iter().flatten().zip(list(rule));
            pairs.into_iter().all(|(value, rule)| valid(value, rule, root))
        }
        "minItems" => value.as_array().is_none_or(|elements| elements.len() as f64 >= number(rule)),
        "maxItems" => value.as_array().is_none_or(|elements| elements.len() as f64 <= number(rule)),
        "minimum" => value.as_f64().is_none_or(|value| value >= number(rule)),
        "oneOf" => list(rule).iter().filter(|rule| valid(value, rule, root)).count() == 1,
        "anyOf" => list(rule).iter().any(|rule| valid(value, rule, root)),
        "allOf" => list(rule).iter().all(|rule| valid(value, rule, root)),
        "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
        other => panic!("the schema uses `{other}`"),
    })
}

fn has_type(value: &Value, rule: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("the schema uses the type `{other}`"),
    };
    match rule {
        Value::String(name) => is(name),
        names => list(names).iter().any(|name| is(word(name))),
    }
}

#[test]
fn every_model_survives_the_way_to_json_and_back() {
    for (name, text) in super::models::all() {
        let (document, _) = parse(&text);
        let json = json::to_json(&document).to_string();
        let again = json::from_json(&json).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(print(&document), print(&again), "{name}");
    }
}

#[test]
fn the_json_of_every_model_has_the_form_of_the_schema() {
    let schema = json::schema();
    for (name, text) in super::models::all() {
        assert!(valid(&json::to_json(&parse(&text).0), &schema, &schema), "{name}");
    }
    let wrong = json!({"declarations": [{"declare": "model", "value": 1}]});
    assert!(!valid(&wrong, &schema, &schema));
    let unknown = json!({"declarations": [], "extra": 1});
    assert!(!valid(&unknown, &schema, &schema));
}

#[test]
fn the_published_schema_is_up_to_date() {
    let path = super::models::root().join("docs/model.schema.json");
    let schema = format!("{:#}\n", json::schema());
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap();
    assert!(published == schema, "run `KEYFORM_BLESS=1 cargo test -p keyform-language json`");
}

#[test]
fn what_is_no_model_is_refused_with_its_place() {
    let check = |text: &str, expected: &str| assert_eq!(json::from_json(text).unwrap_err().to_string(), expected);
    check("{", "invalid JSON: EOF while parsing an object at line 1 column 1");
    check("[]", "the model: a model has a list of `declarations`");
    check(r#"{"declarations":[],"more":1}"#, "the model: unknown key `more`");
    check(
        r#"{"declarations":[{"declare":"table","value":{"name":"T"}}]}"#,
        "declarations[0] (table T): missing field `body`",
    );
    check(
        r#"{"declarations":[{"declare":"model","value":"a"},{"declare":"shape","value":{"name":"S","body":{"lines":[{"name":"f","type":{"kind":"ulid"},"colour":"red"}]}}}]}"#,
        "declarations[1].value.body.lines[0]: unknown key `colour`",
    );
    check(
        r#"{"declarations":[{"declare":"model","value":"a\nb"}]}"#,
        "declarations[0].value cannot be written as a model: this name has no closing backtick",
    );
    check(
        r#"{"declarations":[{"declare":"model","value":"m"},{"declare":"shape","value":{"name":"S","body":{"lines":[{"name":"f","type":{"kind":"number"},"default":{"number":"1 + 1"}}]}}}]}"#,
        "declarations[1].value.body.lines[0].default cannot be written as a model: its text would be parsed as something else",
    );
    check(
        &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        "invalid JSON: it is nested more than 400 levels deep",
    );
}
