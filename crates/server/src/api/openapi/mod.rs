//! OpenAPI 3.1 document of a model: every pattern that callers can reach, with its arguments, answers and problems.
//!
//! `schema` converts types; this file builds the operations.

mod schema;

use keyform_check::Checked;
use keyform_check::surface::{Argument, Audience, CONFLICT, Pattern};
use keyform_flow::Flow;
use keyform_language::document::ast::Number;
use keyform_language::schema::{EntityId, Model, Read, Result as ReadResult, Write};
use serde_json::{Map, Value, json};

use super::served::Served;
use crate::sigv4::in_path;

/// Returns the OpenAPI document of a model.
///
/// ```
/// let checked = keyform_check::Checked::read("model shop\n\ntable Orders { key pk }\n");
/// assert_eq!(keyform_server::openapi(&checked)["openapi"], "3.1.0");
/// ```
#[must_use]
pub fn openapi(checked: &Checked) -> Value {
    document(checked, &[], &|_| false)
}

/// Returns the OpenAPI document including the application's flows and rate limits.
pub(super) fn of_served(served: &Served) -> Value {
    document(served.checked(), served.flows(), &|pattern| served.is_limited(pattern))
}

fn document(checked: &Checked, flows: &[Flow], is_limited: &dyn Fn(&str) -> bool) -> Value {
    let model = &checked.model;
    let flow = |flow: &Flow| {
        (format!("/v1/{}/{}", in_path(&model.name), in_path(flow.name())), json!({ "post": flow_operation(flow) }))
    };
    let paths = Pattern::reachable(model).map(|pattern| {
        let path = format!("/v1/{}/{}", in_path(&model.name), in_path(pattern.name()));
        (path, json!({ pattern.method().to_lowercase(): operation(checked, pattern, is_limited(pattern.name())) }))
    });
    let mut document = json!({
        "openapi": "3.1.0",
        "info": { "title": model.name, "version": env!("CARGO_PKG_VERSION") },
        "servers": [{ "url": "/" }],
        "tags": [
            { "name": "reads", "description": "Reads; each is one request to the store" },
            { "name": "writes", "description": "Writes; each is one atomic request to the store" },
            { "name": "flows", "description": "Flows of the application" },
        ],
        "paths": paths.chain(flows.iter().map(flow)).collect::<Map<_, _>>(),
        "components": {
            "schemas": schemas(model),
            "securitySchemes": {
                "caller": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": claims(model),
                },
            },
        },
    });
    let docs = text(&model.docs);
    if !docs.is_empty() {
        document["info"]["description"] = docs.into();
    }
    document
}

fn text(lines: &[String]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn claims(model: &Model) -> String {
    let fields = model.caller.iter().flat_map(|caller| &caller.fields).map(|field| format!("`{}`", field.name));
    let names: Vec<String> = fields.collect();
    match names.is_empty() {
        true => "A token (HS256, RS256, ES256 or EdDSA), if the server has a key to verify it.".to_owned(),
        false => format!("A token (HS256, RS256, ES256 or EdDSA) with the claims {} and `exp`.", names.join(", ")),
    }
}

fn schemas(model: &Model) -> Map<String, Value> {
    let mut schemas: Map<String, Value> =
        returned(model).into_iter().map(|id| (schema_name(model, id), schema::entity(model.entity(id)))).collect();
    schemas.insert("Problem".to_owned(), problem_schema());
    schemas
}

/// Returns the entities that reachable patterns return.
fn returned(model: &Model) -> Vec<EntityId> {
    let of = |pattern: Pattern<'_>| match pattern {
        Pattern::Read(read) => read.result.entities(),
        Pattern::Write(write) => write.returned_entity().into_iter().collect(),
    };
    let seen: Vec<EntityId> = Pattern::reachable(model).flat_map(of).collect();
    model.entity_ids().filter(|id| seen.contains(id)).collect()
}

/// Returns a unique schema name that contains only the characters OpenAPI allows.
fn schema_name(model: &Model, wanted: EntityId) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let mut taken = vec!["Problem".to_owned()];
    for id in model.entity_ids() {
        let name: String =
            model.entity(id).name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
        let mut name = if name.is_empty() { "_".to_owned() } else { name };
        while taken.contains(&name) {
            name.push('_');
        }
        if id == wanted {
            return name;
        }
        taken.push(name);
    }
    String::new()
}

fn problem_schema() -> Value {
    json!({
        "type": "object",
        "description": "Description of an error (RFC 9457).",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": { "type": "string", "format": "uri" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "outcome": { "type": "string", "description": "Name of the outcome, if the model declares one." },
            "item": { "type": "object", "description": "The current item, if it caused the refusal and the caller may \
                read it." },
        },
    })
}

fn operation(checked: &Checked, pattern: Pattern<'_>, is_limited: bool) -> Value {
    let model = &checked.model;
    let mut operation = Map::new();
    operation.insert("operationId".to_owned(), pattern.name().into());
    let docs = pattern.docs();
    if !docs.is_empty() {
        operation.insert("description".to_owned(), docs.into());
    }
    match pattern {
        Pattern::Read(_) => {
            operation.insert("tags".to_owned(), json!(["reads"]));
            operation.insert("parameters".to_owned(), query(model, pattern));
        }
        Pattern::Write(_) => {
            operation.insert("tags".to_owned(), json!(["writes"]));
            operation.insert("parameters".to_owned(), json!([idempotency_key()]));
            operation.insert("requestBody".to_owned(), body(model, pattern));
        }
    }
    let mut answers = responses(checked, pattern);
    if is_limited {
        answers["429"] = throttled();
    }
    operation.insert("responses".to_owned(), answers);
    operation.insert("security".to_owned(), security(model, pattern));
    Value::Object(operation)
}

fn flow_operation(flow: &Flow) -> Value {
    let mut responses = Map::new();
    responses.insert("200".to_owned(), success(flow.answer().clone()));
    let plain = json!({ "$ref": "#/components/schemas/Problem" });
    for (status, description) in [
        ("400", "An argument is invalid."),
        ("401", "The caller is not authenticated."),
        ("403", "The caller is not allowed to do this."),
        ("503", "The server is overloaded, or there are too many concurrent writes: try again."),
        ("504", "The flow was stopped at its deadline; its writes stay."),
    ] {
        responses.insert(status.to_owned(), problem(description, plain.clone()));
    }
    let outcomes: Vec<String> = flow.refusals().iter().map(|name| (*name).to_owned()).collect();
    responses.insert("409".to_owned(), refusal(&outcomes));
    responses.insert("429".to_owned(), throttled());
    responses.insert("default".to_owned(), problem("The server or its store failed.", plain));
    json!({
        "operationId": flow.name(),
        "description": flow.about(),
        "tags": ["flows"],
        "parameters": [idempotency_key()],
        "requestBody": { "required": true, "content": { "application/json": { "schema": flow.arguments() } } },
        "responses": responses,
        "security": if flow.is_public() { json!([{}, { "caller": [] }]) } else { json!([{ "caller": [] }]) },
    })
}

/// Returns the security requirement. The token is optional where the pattern is public and does not depend on the
/// caller.
fn security(model: &Model, pattern: Pattern<'_>) -> Value {
    let open = pattern.audience(model) == Audience::Everybody && !pattern.wants_caller(model);
    if open { json!([{}, { "caller": [] }]) } else { json!([{ "caller": [] }]) }
}

fn query(model: &Model, pattern: Pattern<'_>) -> Value {
    let parameter = |argument: Argument<'_>| {
        let schema = schema::of(&argument.kind);
        let example = schema::example(&argument.kind);
        let mut parameter = json!({ "name": argument.name, "in": "query", "required": argument.required });
        if schema::is_json_in_query(&argument.kind) {
            parameter["content"] = json!({ "application/json": { "schema": schema, "example": example } });
        } else {
            parameter["schema"] = schema;
            parameter["example"] = example;
        }
        parameter
    };
    let mut parameters: Vec<Value> = pattern.arguments(model).map(parameter).collect();
    if pattern.has_pages() {
        parameters.push(json!({
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Cursor from the previous page; valid only with the same arguments.",
            "schema": { "type": "string" },
        }));
    }
    Value::Array(parameters)
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "A write that is repeated with the same key is applied once and returns the same answer.",
        "schema": { "type": "string", "minLength": 1, "maxLength": 255 },
    })
}

fn body(model: &Model, pattern: Pattern<'_>) -> Value {
    let arguments: Vec<Argument<'_>> = pattern.arguments(model).collect();
    let property = |argument: &Argument<'_>| match schema::of(&argument.kind) {
        // Null is accepted for an absent argument.
        schema if !argument.required => json!({ "anyOf": [schema, { "type": "null" }] }),
        schema => schema,
    };
    let properties: Map<String, Value> =
        arguments.iter().map(|argument| (argument.name.to_owned(), property(argument))).collect();
    let required: Vec<&str> =
        arguments.iter().filter(|argument| argument.required).map(|argument| argument.name).collect();
    let example: Map<String, Value> = arguments
        .iter()
        .filter(|argument| argument.required)
        .map(|argument| (argument.name.to_owned(), schema::example(&argument.kind)))
        .collect();
    let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    json!({
        "required": !required.is_empty(),
        "content": { "application/json": { "schema": object, "example": example } },
    })
}

fn responses(checked: &Checked, pattern: Pattern<'_>) -> Value {
    let model = &checked.model;
    let mut responses = Map::new();
    match pattern {
        Pattern::Read(read) => drop(responses.insert("200".to_owned(), success(read_schema(model, read)))),
        Pattern::Write(write) => match write_schema(model, write, pattern) {
            Some(schema) => drop(responses.insert("200".to_owned(), success(schema))),
            None => drop(responses.insert("204".to_owned(), json!({ "description": "Done." }))),
        },
    }
    let mut put = |status: &str, description: &str| {
        responses.insert(status.to_owned(), problem(description, json!({ "$ref": "#/components/schemas/Problem" })));
    };
    put("400", "An argument or the cursor is invalid.");
    put("401", "The caller is not authenticated.");
    put("403", "The caller is not allowed to do this.");
    put("404", "The item does not exist.");
    if let Pattern::Write(_) = pattern {
        put("422", "The idempotency key was used for another call.");
        put("503", "Too many concurrent writes: try again.");
        responses.insert("409".to_owned(), refusal(&pattern.outcomes(checked)));
    }
    responses.insert(
        "default".to_owned(),
        problem("The server or its store failed.", json!({ "$ref": "#/components/schemas/Problem" })),
    );
    Value::Object(responses)
}

fn success(schema: Value) -> Value {
    json!({ "description": "The answer.", "content": { "application/json": { "schema": schema } } })
}

fn problem(description: &str, schema: Value) -> Value {
    json!({ "description": description, "content": { "application/problem+json": { "schema": schema } } })
}

fn throttled() -> Value {
    let mut throttled = problem("Too many attempts.", json!({ "$ref": "#/components/schemas/Problem" }));
    throttled["headers"] = json!({
        "Retry-After": {
            "description": "Seconds after which the next attempt is allowed.",
            "schema": { "type": "integer", "minimum": 1 },
        },
    });
    throttled
}

/// Describes the named outcomes of a write, including the conflict that every write may return.
fn refusal(outcomes: &[String]) -> Value {
    let mut outcomes = outcomes.to_vec();
    if !outcomes.iter().any(|name| name == CONFLICT) {
        outcomes.push(CONFLICT.to_owned());
    }
    let names = outcomes.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let named = json!({ "properties": { "outcome": { "type": "string", "enum": outcomes } }, "required": ["outcome"] });
    problem(
        &format!("The write was refused; `outcome` is one of {names}."),
        json!({ "allOf": [{ "$ref": "#/components/schemas/Problem" }, named] }),
    )
}

fn reference(model: &Model, entity: Option<EntityId>) -> Value {
    match entity {
        Some(entity) => json!({ "$ref": format!("#/components/schemas/{}", schema_name(model, entity)) }),
        None => json!({}),
    }
}

/// Returns the schema of a returned item, limited to the selected fields.
fn item(model: &Model, read: &Read, entity: Option<EntityId>) -> Value {
    match (&read.select, entity) {
        (Some(selected), Some(entity)) => {
            let entity = model.entity(entity);
            let names: Vec<&str> =
                selected.iter().map(|((of, field), _)| model.entity(*of).field(*field).name.as_str()).collect();
            schema::part_of(entity, &|name| names.contains(&name))
        }
        _ => reference(model, entity),
    }
}

fn read_schema(model: &Model, read: &Read) -> Value {
    let parts = match &read.result {
        ReadResult::Count(..) => {
            return json!({
                "type": "object",
                "required": ["count"],
                "properties": { "count": { "type": "integer", "minimum": 0 } },
            });
        }
        ReadResult::Parts(parts) => parts,
    };
    match parts.as_slice() {
        [(entity, Number::Many, _)] => json!({
            "type": "object",
            "required": ["items", "cursor"],
            "properties": {
                "items": { "type": "array", "items": item(model, read, *entity) },
                "cursor": { "type": ["string", "null"], "description": "Cursor of the next page; null on the last \
                    page." },
                "broken": { "type": "integer", "minimum": 1, "description": "Number of items that were left out \
                    because they do not fit the model; absent if there are none." },
            },
        }),
        [(entity, Number::One, _)] => item(model, read, *entity),
        [(entity, Number::Maybe, _)] => json!({ "anyOf": [item(model, read, *entity), { "type": "null" }] }),
        parts => {
            let named = |(entity, _, _): &(Option<EntityId>, Number, _)| {
                let name = entity.map(|entity| model.entity(entity).name.clone()).unwrap_or_default();
                (name, json!({ "type": "array", "items": item(model, read, *entity) }))
            };
            let properties: Map<String, Value> = parts.iter().map(named).collect();
            let required: Vec<&String> = properties.keys().collect();
            json!({ "type": "object", "required": required, "properties": properties })
        }
    }
}

/// Returns the schema of a write's result; nullable if the write may do nothing.
fn write_schema(model: &Model, write: &Write, pattern: Pattern<'_>) -> Option<Value> {
    let entity = write.result?.value;
    let item = reference(model, entity);
    Some(if pattern.may_be_none() { json!({ "anyOf": [item, { "type": "null" }] }) } else { item })
}
