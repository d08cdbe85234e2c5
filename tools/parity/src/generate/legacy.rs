//! The parameters from before expressions: Expected, AttributeUpdates, KeyConditions, the two filters, AttributesToGet.

use serde_json::{Map, Value, json};

use crate::generate::reads::keys_of;
use crate::generate::value::{PLAIN, item, number, number_set, small_number, string_set, value};
use crate::random::Random;
use crate::request::{Reading, Request};
use crate::world::{KeyAttribute, Kind, Table, key_bounds, key_value};

/// Returns a random request with legacy parameters.
pub fn request(random: &mut Random, table: &Table) -> Request {
    match random.below(6) {
        0 => put(random, table),
        1 => update(random, table),
        2 => delete(random, table),
        3 => get(random, table),
        4 => query(random, table),
        _ => scan(random, table),
    }
}

fn put(random: &mut Random, table: &Table) -> Request {
    let (item, key) = item(random, table);
    let mut body = json!({"TableName": table.name, "Item": item});
    expect(random, &mut body);
    Request::new("PutItem", body).touching(&table.name, key)
}

fn update(random: &mut Random, table: &Table) -> Request {
    let key = table.random_key(random);
    let mut updates = Map::new();
    for _ in 0..random.between(1, 3) {
        let name = random.word(&PLAIN);
        updates.insert(name.to_owned(), attribute_update(random, name));
    }
    let mut body = json!({"TableName": table.name, "Key": key, "AttributeUpdates": updates});
    if random.percent(30) {
        expect(random, &mut body);
    }
    if random.percent(50) {
        body["ReturnValues"] = random.word(&["ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"]).into();
    }
    Request::new("UpdateItem", body).touching(&table.name, key)
}

fn attribute_update(random: &mut Random, name: &str) -> Value {
    match (random.below(4), name) {
        (0, _) => json!({"Action": "DELETE"}),
        (1, "tags") => json!({"Action": "DELETE", "Value": string_set(random)}),
        (2, "tags") => json!({"Action": "ADD", "Value": string_set(random)}),
        (2, "nums") => json!({"Action": "ADD", "Value": number_set(random)}),
        (2, "lst") => json!({"Action": "ADD", "Value": {"L": [{"N": "1"}]}}),
        (2, "cnt") => json!({"Action": "ADD", "Value": small_number(random)}),
        (3, _) => json!({"Value": value(random, 1)}),
        _ => json!({"Action": "PUT", "Value": value(random, 2)}),
    }
}

fn delete(random: &mut Random, table: &Table) -> Request {
    let key = table.random_key(random);
    let mut body = json!({"TableName": table.name, "Key": key, "ReturnValues": "ALL_OLD"});
    expect(random, &mut body);
    Request::new("DeleteItem", body).touching(&table.name, key)
}

fn get(random: &mut Random, table: &Table) -> Request {
    let key = table.random_key(random);
    let body = json!({"TableName": table.name, "Key": key, "AttributesToGet": ["a", "pk", random.word(&PLAIN[1..])]});
    Request::new("GetItem", body)
}

fn query(random: &mut Random, table: &Table) -> Request {
    let index = (random.percent(30) && !table.indexes.is_empty()).then(|| random.pick(&table.indexes).clone());
    let (hash, range) = keys_of(table, index.as_ref());
    let mut conditions = Map::new();
    conditions.insert(hash.name.clone(), compare("EQ", vec![key_value(random, hash.kind, 5)]));
    if let Some(range) = range.filter(|_| random.percent(50)) {
        conditions.insert(range.name.clone(), range_condition(random, range));
    }
    let mut body = json!({"TableName": table.name, "KeyConditions": conditions});
    let reading = match (&index, range) {
        (None, _) => Reading::Exact,
        (Some(_), Some(range)) => Reading::OrderedBy(range.name.clone()),
        (Some(_), None) => Reading::AnyOrder,
    };
    if let Some(index) = &index {
        body["IndexName"] = index.name.clone().into();
    }
    filter(random, &mut body, "QueryFilter");
    Request::new("Query", body).read(reading)
}

fn range_condition(random: &mut Random, range: &KeyAttribute) -> Value {
    let one = key_value(random, range.kind, 8);
    match random.below(6) {
        0 if range.kind != Kind::N => compare("BEGINS_WITH", vec![one]),
        1 => compare("BETWEEN", key_bounds(random, range.kind).to_vec()),
        other => compare(["EQ", "LT", "LE", "GT", "GE"][other % 5], vec![one]),
    }
}

fn scan(random: &mut Random, table: &Table) -> Request {
    let mut body = json!({"TableName": table.name});
    filter(random, &mut body, "ScanFilter");
    if random.percent(30) {
        body["AttributesToGet"] = json!(["pk", "a"]);
    }
    Request::new("Scan", body).read(Reading::AnyOrder)
}

fn filter(random: &mut Random, body: &mut Value, member: &str) {
    if random.percent(60) {
        let comparisons = comparisons(random);
        if comparisons.len() > 1 && random.percent(30) {
            body["ConditionalOperator"] = random.word(&["AND", "OR"]).into();
        }
        body[member] = Value::Object(comparisons);
    }
}

fn comparisons(random: &mut Random) -> Map<String, Value> {
    (0..random.between(1, 2)).map(|_| (random.word(&PLAIN).to_owned(), comparison(random))).collect()
}

fn comparison(random: &mut Random) -> Value {
    match random.below(9) {
        0 => compare("NULL", Vec::new()),
        1 => compare("NOT_NULL", Vec::new()),
        2 => compare("BETWEEN", vec![json!({"N": "1"}), json!({"N": "9"})]),
        3 => compare("IN", ["1", "2.50"][..random.between(1, 2)].iter().map(|n| json!({"N": n})).collect()),
        4 => compare("BEGINS_WITH", vec![json!({"S": "a"})]),
        5 => compare(random.word(&["CONTAINS", "NOT_CONTAINS"]), vec![json!({"S": random.word(&["a", "x"])})]),
        6 => compare(random.word(&["EQ", "NE"]), vec![value(random, 2)]),
        _ => compare(random.word(&["LT", "LE", "GT", "GE"]), vec![json!({"N": number(random)})]),
    }
}

fn compare(operator: &str, values: Vec<Value>) -> Value {
    if values.is_empty() {
        return json!({"ComparisonOperator": operator});
    }
    json!({"ComparisonOperator": operator, "AttributeValueList": values})
}

fn expect(random: &mut Random, body: &mut Value) {
    let expected: Map<String, Value> = (0..random.between(1, 2))
        .map(|_| {
            let name = random.word(&PLAIN).to_owned();
            let condition = match random.below(5) {
                0 => json!({"Exists": false}),
                1 => json!({"Value": value(random, 1)}),
                2 => json!({"Exists": true, "Value": value(random, 1)}),
                _ => comparison(random),
            };
            (name, condition)
        })
        .collect();
    if expected.len() > 1 && random.percent(30) {
        body["ConditionalOperator"] = random.word(&["AND", "OR"]).into();
    }
    body["Expected"] = Value::Object(expected);
}
