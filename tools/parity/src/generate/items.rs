//! PutItem, GetItem, UpdateItem and DeleteItem.

use serde_json::{Value, json};

use crate::generate::decorate;
use crate::generate::expression::{Placeholders, condition, projection, update};
use crate::generate::value::item;
use crate::random::Random;
use crate::request::Request;
use crate::world::Table;

/// Returns a random request for one item.
pub fn request(random: &mut Random, table: &Table) -> Request {
    match random.weighted(&[4, 3, 4, 2]) {
        0 => put(random, table),
        1 => get(random, table),
        2 => update_item(random, table),
        _ => delete(random, table),
    }
}

/// Adds a condition in some cases, with the reaction to its failure in some of those.
pub fn conditional(random: &mut Random, made: &mut Placeholders, body: &mut Value) {
    if random.percent(40) {
        body["ConditionExpression"] = condition(random, made, 2).into();
        if random.percent(40) {
            body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD".into();
        }
    }
}

fn put(random: &mut Random, table: &Table) -> Request {
    let (item, key) = item(random, table);
    let mut body = json!({"TableName": table.name, "Item": item});
    let mut made = Placeholders::default();
    conditional(random, &mut made, &mut body);
    made.put_into(&mut body);
    if random.percent(30) {
        body["ReturnValues"] = random.word(&["NONE", "ALL_OLD"]).into();
    }
    decorate(random, &mut body);
    Request::new("PutItem", body).touching(&table.name, key)
}

fn get(random: &mut Random, table: &Table) -> Request {
    let mut body = json!({"TableName": table.name, "Key": table.random_key(random)});
    let mut made = Placeholders::default();
    if random.percent(40) {
        body["ProjectionExpression"] = projection(random, &mut made).into();
    }
    if random.percent(30) {
        body["ConsistentRead"] = random.percent(50).into();
    }
    made.put_into(&mut body);
    decorate(random, &mut body);
    Request::new("GetItem", body)
}

fn update_item(random: &mut Random, table: &Table) -> Request {
    let key = table.random_key(random);
    let mut body = json!({"TableName": table.name, "Key": key});
    let mut made = Placeholders::default();
    if random.percent(97) {
        body["UpdateExpression"] = update(random, &mut made).into();
    }
    conditional(random, &mut made, &mut body);
    made.put_into(&mut body);
    if random.percent(60) {
        body["ReturnValues"] = random.word(&["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"]).into();
    }
    decorate(random, &mut body);
    Request::new("UpdateItem", body).touching(&table.name, key)
}

fn delete(random: &mut Random, table: &Table) -> Request {
    let key = table.random_key(random);
    let mut body = json!({"TableName": table.name, "Key": key});
    let mut made = Placeholders::default();
    conditional(random, &mut made, &mut body);
    made.put_into(&mut body);
    if random.percent(40) {
        body["ReturnValues"] = random.word(&["NONE", "ALL_OLD"]).into();
    }
    decorate(random, &mut body);
    Request::new("DeleteItem", body).touching(&table.name, key)
}
