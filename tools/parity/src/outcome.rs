//! Normalises answers, so that equivalent answers of two servers are equal.
//!
//! Sorts sets, removes identifiers and times, reduces descriptions of tables to what was requested, and errors to
//! status, type, message and the members that a client reads.

use std::fmt;

use keyform_driver::http::Answer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A normalised answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// HTTP status; zero if there was no answer.
    pub status: u16,
    /// Type of the error without its prefix; empty for success.
    pub kind: Option<String>,
    /// Message of the error.
    pub message: String,
    /// Other members of the answer.
    pub body: Value,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            None => write!(f, "{} {}", self.status, self.body),
            Some(kind) if self.body.as_object().is_none_or(Map::is_empty) => {
                write!(f, "{} {kind}: {}", self.status, self.message)
            }
            Some(kind) => write!(f, "{} {kind}: {} {}", self.status, self.message, self.body),
        }
    }
}

impl Outcome {
    /// Returns whether the request succeeded.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.kind.is_none()
    }

    /// Returns the outcome of a request without an answer.
    #[must_use]
    pub fn unanswered(reason: &str) -> Self {
        Self { status: 0, kind: Some("NoAnswer".to_owned()), message: reason.to_owned(), body: json!({}) }
    }

    /// Normalises the answer to an operation.
    #[must_use]
    pub fn of(operation: &str, answer: &Answer) -> Self {
        let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else {
            let text = String::from_utf8_lossy(&answer.body).chars().take(200).collect();
            return Self { status: answer.status, kind: Some("NotJson".to_owned()), message: text, body: json!({}) };
        };
        let mut outcome = if answer.status == 200 { success(body) } else { error(answer.status, body) };
        normalise(operation, &mut outcome.body);
        outcome
    }
}

fn success(body: Value) -> Outcome {
    Outcome { status: 200, kind: None, message: String::new(), body }
}

fn error(status: u16, body: Value) -> Outcome {
    let mut rest = body.as_object().cloned().unwrap_or_default();
    let kind = rest.remove("__type").and_then(|kind| kind.as_str().map(|text| short_type(text).to_owned()));
    let lower = rest.remove("message");
    let message = lower.or(rest.remove("Message")).and_then(|text| text.as_str().map(sorted_lists)).unwrap_or_default();
    let message = without_account(&message);
    Outcome { status, kind: Some(kind.unwrap_or_default()), message, body: Value::Object(rest) }
}

fn short_type(kind: &str) -> &str {
    kind.rsplit_once('#').map_or(kind, |(_, name)| name)
}

/// Servers list placeholders and attributes in the order of their maps, so these lists are sorted.
fn sorted_lists(message: &str) -> String {
    let mut text = message.to_owned();
    for (open, close) in [
        ("keys: {", '}'),
        ("Keys: [", ']'),
        ("AttributeDefinitions: [", ']'),
        ("keys used: [", ']'),
        ("Non-expression parameters: {", '}'),
        ("Expression parameters: {", '}'),
    ] {
        let Some(start) = text.find(open).map(|at| at + open.len()) else { continue };
        let Some(end) = text[start..].find(close).map(|length| start + length) else { continue };
        let mut names: Vec<&str> = text[start..end].split(", ").collect();
        names.sort_unstable();
        text = format!("{}{}{}", &text[..start], names.join(", "), &text[end..]);
    }
    text
}

/// Regions, accounts and times in the names of tables and streams differ between servers.
fn without_account(message: &str) -> String {
    let words = message.split(' ').map(|word| match word.find(":table/") {
        Some(at) if word.contains("arn:aws:dynamodb:") => {
            let end = word.find("/stream/").unwrap_or(word.len());
            let kind = if end < word.len() { "/stream" } else { "" };
            format!("arn{}{kind}", &word[at..end])
        }
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn normalise(operation: &str, body: &mut Value) {
    sort_sets(body);
    let Some(map) = body.as_object_mut() else { return };
    for name in ["UnprocessedItems", "UnprocessedKeys", "ItemCollectionMetrics"] {
        if map.get(name).and_then(Value::as_object).is_some_and(Map::is_empty) {
            map.remove(name);
        }
    }
    if let Some(reasons) = map.get_mut("CancellationReasons").and_then(Value::as_array_mut) {
        reasons.iter_mut().for_each(normalise_reason);
    }
    if let Some(capacity) = map.get_mut("ConsumedCapacity") {
        sort(capacity);
    }
    match operation {
        "CreateTable" | "UpdateTable" | "DeleteTable" | "DescribeTable" => describe(map),
        "ListTables" => map.clear(),
        "BatchGetItem" => sort_responses(map),
        "ListTagsOfResource" => map.values_mut().for_each(sort),
        "ListStreams" | "DescribeStream" | "GetShardIterator" | "GetRecords" => forget_names(map),
        "DescribeTimeToLive" => settle_expiry(map),
        _ => {}
    }
}

fn normalise_reason(reason: &mut Value) {
    if let Some(map) = reason.as_object_mut() {
        map.retain(|_, value| !value.is_null());
    }
}

/// Sorts the members of sets; lists keep their order.
pub fn sort_sets(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map.iter_mut() {
                match inner {
                    Value::Array(members) if matches!(name.as_str(), "SS" | "NS" | "BS") => {
                        members.sort_by_key(Value::to_string);
                    }
                    other => sort_sets(other),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(sort_sets),
        _ => {}
    }
}

fn sort_responses(map: &mut Map<String, Value>) {
    let tables = map.get_mut("Responses").and_then(Value::as_object_mut);
    for items in tables.into_iter().flat_map(|tables| tables.values_mut()) {
        sort(items);
    }
}

/// The names of streams, shards and iterators and the number of shards differ between servers.
fn forget_names(map: &mut Map<String, Value>) {
    for stream in map.get_mut("Streams").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(stream) = stream.as_object_mut() {
            stream.retain(|name, _| name == "TableName");
        }
    }
    if let Some(description) = map.get_mut("StreamDescription").and_then(Value::as_object_mut) {
        let kept = ["KeySchema", "StreamStatus", "StreamViewType", "TableName"];
        description.retain(|name, _| kept.contains(&name.as_str()));
    }
    for name in ["ShardIterator", "NextShardIterator"] {
        if let Some(iterator) = map.get_mut(name) {
            *iterator = json!("its own");
        }
    }
}

/// Enabling and disabling takes a moment on some servers and none on others.
fn settle_expiry(map: &mut Map<String, Value>) {
    let Some(status) = map.get_mut("TimeToLiveDescription").and_then(|expiry| expiry.get_mut("TimeToLiveStatus"))
    else {
        return;
    };
    match status.as_str() {
        Some("ENABLING") => *status = json!("ENABLED"),
        Some("DISABLING") => *status = json!("DISABLED"),
        _ => {}
    }
}

/// Sorts a list by the text of its members.
pub fn sort(list: &mut Value) {
    if let Some(list) = list.as_array_mut() {
        list.sort_by_key(Value::to_string);
    }
}

/// Reduces a table's description to what the request decided, without states, identifiers and times.
fn describe(map: &mut Map<String, Value>) {
    let description = map.remove("Table").or_else(|| map.remove("TableDescription"));
    let Some(mut table) = description else { return };
    let mut kept = Map::new();
    for name in ["TableName", "KeySchema", "AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes"] {
        if let Some(value) = table.get_mut(name).map(Value::take) {
            kept.insert(name.to_owned(), value);
        }
    }
    for name in ["GlobalSecondaryIndexes", "LocalSecondaryIndexes"] {
        let indexes = kept.get_mut(name).and_then(Value::as_array_mut);
        indexes.into_iter().flatten().for_each(describe_index);
    }
    kept.values_mut().filter(|value| value.is_array()).for_each(sort);
    map.insert("Table".to_owned(), Value::Object(kept));
}

fn describe_index(index: &mut Value) {
    if let Some(map) = index.as_object_mut() {
        map.retain(|name, _| matches!(name.as_str(), "IndexName" | "KeySchema" | "Projection"));
        if let Some(attributes) =
            map.get_mut("Projection").and_then(|projection| projection.get_mut("NonKeyAttributes"))
        {
            sort(attributes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(operation: &str, status: u16, body: &str) -> String {
        Outcome::of(operation, &Answer { status, body: body.as_bytes().to_vec() }).to_string()
    }

    #[test]
    fn sets_are_sorted_and_lists_are_not() {
        let text = outcome("GetItem", 200, r#"{"Item":{"s":{"SS":["b","a"]},"l":{"L":[{"N":"2"},{"N":"1"}]}}}"#);
        assert_eq!(text, r#"200 {"Item":{"l":{"L":[{"N":"2"},{"N":"1"}]},"s":{"SS":["a","b"]}}}"#);
    }

    #[test]
    fn errors_lose_their_prefix_and_keep_their_item() {
        let text = outcome("PutItem", 400, r#"{"__type":"com.x#Refused","Message":"keys: {:b, :a}","Item":{}}"#);
        assert_eq!(text, r#"400 Refused: keys: {:a, :b} {"Item":{}}"#);
    }
}
