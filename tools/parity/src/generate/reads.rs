//! Query and Scan on tables and indexes.

use serde_json::{Value, json};

use crate::generate::decorate;
use crate::generate::expression::{Placeholders, condition, key_condition, projection};
use crate::random::Random;
use crate::request::{Reading, Request};
use crate::world::{Index, KeyAttribute, Table};

/// Returns a random Query or Scan.
pub fn request(random: &mut Random, table: &Table) -> Request {
    let index = (random.percent(50) && !table.indexes.is_empty()).then(|| random.pick(&table.indexes).clone());
    if random.percent(65) { query(random, table, index.as_ref()) } else { scan(random, table, index.as_ref()) }
}

fn query(random: &mut Random, table: &Table, index: Option<&Index>) -> Request {
    let (hash, range) = keys_of(table, index);
    let mut made = Placeholders::default();
    let mut body = json!({"TableName": table.name});
    body["KeyConditionExpression"] = key_condition(random, &mut made, hash, range).into();
    if random.percent(40) {
        body["ScanIndexForward"] = random.percent(40).into();
    }
    finish(random, made, body, index, "Query", reading_of_query(range, index))
}

fn scan(random: &mut Random, table: &Table, index: Option<&Index>) -> Request {
    let body = json!({"TableName": table.name});
    finish(random, Placeholders::default(), body, index, "Scan", Reading::AnyOrder)
}

/// Items with equal keys may have any order, so only the order of the keys is compared.
fn reading_of_query(range: Option<&KeyAttribute>, index: Option<&Index>) -> Reading {
    match (index, range) {
        (None, _) => Reading::Exact,
        (Some(_), Some(range)) => Reading::OrderedBy(range.name.clone()),
        (Some(_), None) => Reading::AnyOrder,
    }
}

fn finish(
    random: &mut Random,
    mut made: Placeholders,
    mut body: Value,
    index: Option<&Index>,
    operation: &'static str,
    reading: Reading,
) -> Request {
    if let Some(index) = index {
        body["IndexName"] = index.name.clone().into();
    }
    if random.percent(40) {
        body["FilterExpression"] = condition(random, &mut made, 2).into();
    }
    match random.below(6) {
        0 => body["ProjectionExpression"] = projection(random, &mut made).into(),
        1 => body["Select"] = select(random, index).into(),
        _ => {}
    }
    made.put_into(&mut body);
    if random.percent(30) {
        body["Limit"] = random.between(1, 6).into();
    }
    if random.percent(15) && index.is_none_or(|index| !index.global) {
        body["ConsistentRead"] = random.percent(60).into();
    }
    decorate(random, &mut body);
    Request::new(operation, body).read(reading)
}

/// Returns a selection that the index or the table allows.
fn select(random: &mut Random, index: Option<&Index>) -> &'static str {
    match index {
        None => random.word(&["ALL_ATTRIBUTES", "COUNT"]),
        Some(index) if index.global && index.projection["ProjectionType"] != "ALL" => {
            random.word(&["COUNT", "ALL_PROJECTED_ATTRIBUTES"])
        }
        Some(_) => random.word(&["ALL_ATTRIBUTES", "COUNT", "ALL_PROJECTED_ATTRIBUTES"]),
    }
}

/// Returns the key attributes of a table or of its index.
pub fn keys_of<'a>(table: &'a Table, index: Option<&'a Index>) -> (&'a KeyAttribute, Option<&'a KeyAttribute>) {
    match index {
        Some(index) => (&index.hash, index.range.as_ref()),
        None => (&table.hash, table.range.as_ref()),
    }
}
