//! Formats a plan for tables and hovers: its key condition and its order.

use crate::schema::Read;

use super::{BoundKey, BoundPart, ReadPlan, RequestKind, SortRange, WriteKind};

/// Formats the key condition: `pk = "CHANNEL#{channelId}" and sk begins "MSG#"`. Empty for a Scan.
#[must_use]
pub fn key_condition(read: &Read, plan: &ReadPlan) -> String {
    if plan.request == RequestKind::Scan {
        return String::new();
    }
    let mut parts: Vec<String> = plan.partition.iter().chain(&plan.sort.equal).map(|key| equal(read, key)).collect();
    if let Some(range) = &plan.sort.range {
        parts.push(sort(read, range));
    }
    parts.join(" and ")
}

fn equal(read: &Read, key: &BoundKey) -> String {
    format!("{} = {}", key.attribute, value(read, key))
}

fn sort(read: &Read, range: &SortRange) -> String {
    let compared = |key: &BoundKey, operator: &str| format!("{} {operator} {}", key.attribute, value(read, key));
    match range {
        SortRange::Equal(key) => equal(read, key),
        SortRange::Begins(key) => compared(key, "begins"),
        SortRange::Between(low, high) => format!("{} and {}", compared(low, "between"), value(read, high)),
        SortRange::From(key) => compared(key, ">="),
        SortRange::After(key) => compared(key, ">"),
        SortRange::Until(key) => compared(key, "<="),
        SortRange::Before(key) => compared(key, "<"),
    }
}

/// Formats a key's value as a template over the read's arguments; a lone argument has no quotes.
fn value(read: &Read, key: &BoundKey) -> String {
    if let [BoundPart::Argument { parameter, argument, format }] = key.parts.as_slice() {
        return format!("{}{format}", argument_name(read, *parameter, *argument));
    }
    let mut text = String::new();
    for part in &key.parts {
        match part {
            BoundPart::Text(literal) => text.push_str(literal),
            BoundPart::Argument { parameter, argument, format } => {
                text.push_str(&format!("{{{}{format}}}", argument_name(read, *parameter, *argument)));
            }
        }
    }
    format!("\"{text}\"")
}

fn argument_name(read: &Read, parameter: usize, argument: usize) -> &str {
    read.parameters.get(parameter).and_then(|parameter| parameter.arguments.get(argument)).map_or("?", String::as_str)
}

/// Returns the DynamoDB API name of a read request.
#[must_use]
pub const fn request_name(request: RequestKind) -> &'static str {
    match request {
        RequestKind::Get => "GetItem",
        RequestKind::BatchGet => "BatchGetItem",
        RequestKind::Query => "Query",
        RequestKind::Scan => "Scan",
    }
}

/// Returns the DynamoDB API name of a write request.
#[must_use]
pub const fn write_name(request: WriteKind) -> &'static str {
    match request {
        WriteKind::Put => "PutItem",
        WriteKind::Update => "UpdateItem",
        WriteKind::Delete => "DeleteItem",
        WriteKind::Transaction => "TransactWriteItems",
        WriteKind::Batch => "BatchWriteItem",
    }
}
