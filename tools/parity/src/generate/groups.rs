//! Batches and transactions over one or two tables.

use serde_json::{Map, Value, json};

use crate::generate::decorate;
use crate::generate::expression::{Placeholders, condition, projection, update};
use crate::generate::items::conditional;
use crate::generate::value::item;
use crate::random::Random;
use crate::request::Request;
use crate::world::Table;

/// Returns a random batch or transaction.
pub fn request(random: &mut Random, tables: &[Table]) -> Request {
    let mut chosen = vec![random.pick(tables).clone()];
    let other = random.pick(tables);
    if other.name != chosen[0].name && random.percent(50) {
        chosen.push(other.clone());
    }
    match random.below(4) {
        0 => batch_write(random, &chosen),
        1 => batch_get(random, &chosen),
        2 => transact_write(random, &chosen),
        _ => transact_get(random, &chosen),
    }
}

/// Returns different keys of a table, as many as it finds.
fn keys(random: &mut Random, table: &Table, wanted: usize) -> Vec<Value> {
    let mut found: Vec<Value> = Vec::new();
    for _ in 0..wanted {
        let key = table.random_key(random);
        if !found.contains(&key) || random.percent(3) {
            found.push(key);
        }
    }
    found
}

fn batch_write(random: &mut Random, tables: &[Table]) -> Request {
    let mut items = Map::new();
    let mut touched = Vec::new();
    for table in tables {
        let count = random.between(1, 8);
        let mut writes = Vec::new();
        for key in keys(random, table, count) {
            touched.push((table.name.clone(), key.clone()));
            writes.push(write_of(random, table, key));
        }
        items.insert(table.name.clone(), writes.into());
    }
    let mut body = json!({"RequestItems": items});
    decorate(random, &mut body);
    let request = Request::new("BatchWriteItem", body);
    touched.into_iter().fold(request, |request, (table, key)| request.touching(&table, key))
}

fn write_of(random: &mut Random, table: &Table, key: Value) -> Value {
    if random.percent(30) {
        return json!({"DeleteRequest": {"Key": key}});
    }
    json!({"PutRequest": {"Item": item_with(random, table, &key)}})
}

fn item_with(random: &mut Random, table: &Table, key: &Value) -> Value {
    let (mut item, _) = item(random, table);
    if let (Value::Object(item), Value::Object(key)) = (&mut item, key) {
        item.extend(key.clone());
    }
    item
}

fn batch_get(random: &mut Random, tables: &[Table]) -> Request {
    let mut items = Map::new();
    for table in tables {
        let count = random.between(1, 10);
        let mut part = json!({"Keys": keys(random, table, count)});
        let mut made = Placeholders::default();
        if random.percent(30) {
            part["ProjectionExpression"] = projection(random, &mut made).into();
        }
        made.put_into(&mut part);
        items.insert(table.name.clone(), part);
    }
    let mut body = json!({"RequestItems": items});
    decorate(random, &mut body);
    Request::new("BatchGetItem", body)
}

fn transact_write(random: &mut Random, tables: &[Table]) -> Request {
    let mut actions = Vec::new();
    let mut touched = Vec::new();
    for table in tables {
        let count = random.between(1, 4);
        for key in keys(random, table, count) {
            touched.push((table.name.clone(), key.clone()));
            actions.push(transact_action(random, table, key));
        }
    }
    let mut body = json!({"TransactItems": actions});
    decorate(random, &mut body);
    let request = Request::new("TransactWriteItems", body);
    touched.into_iter().fold(request, |request, (table, key)| request.touching(&table, key))
}

fn transact_action(random: &mut Random, table: &Table, key: Value) -> Value {
    let mut made = Placeholders::default();
    let mut part = json!({"TableName": table.name});
    let kind = match random.weighted(&[4, 4, 2, 2]) {
        0 => {
            part["Item"] = item_with(random, table, &key);
            conditional(random, &mut made, &mut part);
            "Put"
        }
        1 => {
            part["Key"] = key;
            part["UpdateExpression"] = update(random, &mut made).into();
            conditional(random, &mut made, &mut part);
            "Update"
        }
        2 => {
            part["Key"] = key;
            conditional(random, &mut made, &mut part);
            "Delete"
        }
        _ => {
            part["Key"] = key;
            part["ConditionExpression"] = condition(random, &mut made, 1).into();
            "ConditionCheck"
        }
    };
    made.put_into(&mut part);
    json!({kind: part})
}

fn transact_get(random: &mut Random, tables: &[Table]) -> Request {
    let mut gets = Vec::new();
    for table in tables {
        let count = random.between(1, 4);
        for key in keys(random, table, count) {
            let mut part = json!({"TableName": table.name, "Key": key});
            let mut made = Placeholders::default();
            if random.percent(25) {
                part["ProjectionExpression"] = projection(random, &mut made).into();
            }
            made.put_into(&mut part);
            gets.push(json!({"Get": part}));
        }
    }
    let mut body = json!({"TransactItems": gets});
    decorate(random, &mut body);
    Request::new("TransactGetItems", body)
}
