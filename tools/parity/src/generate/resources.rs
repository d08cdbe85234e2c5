//! Tags and streams. Servers name tables, streams and shards differently, so requests contain placeholders
//! (`$table:NAME`, `$stream:NAME`, `$shard:NAME`), and each server gets its own names.

use serde_json::{Value, json};

use crate::generate::value::attributes;
use crate::random::Random;
use crate::request::{Reading, Request};
use crate::world::{Kind, Table};

/// Returns a random request about tags or streams.
pub fn request(random: &mut Random, table: &Table) -> Request {
    match random.weighted(&[3, 2, 3, 2, 2, 3, 2, 6]) {
        0 => tag(random, table),
        1 => untag(random, table),
        2 => Request::new("ListTagsOfResource", json!({"ResourceArn": arn(random, table)})),
        3 => list_streams(random, table),
        4 => describe_stream(random, table),
        5 => shard_iterator(random, table),
        6 => records(random, table),
        _ => written_records(random, table),
    }
}

fn arn(random: &mut Random, table: &Table) -> String {
    match random.below(12) {
        0 => "arn:aws:s3:::bucket".to_owned(),
        1 => "not-an-arn".to_owned(),
        _ => format!("$table:{}", table.name),
    }
}

fn tag(random: &mut Random, table: &Table) -> Request {
    let tags: Value = match random.below(8) {
        0 => json!([]),
        1 => json!([{"Key": "", "Value": "empty"}]),
        2 => json!([{"Key": "k".repeat(129), "Value": "long"}]),
        3 => (0..51).map(|number| json!({"Key": format!("k{number}"), "Value": "many"})).collect(),
        _ => (0..random.between(1, 3))
            .map(|_| json!({"Key": random.word(&["team", "cost", "stage"]), "Value": random.word(&["", "a", "b"])}))
            .collect(),
    };
    Request::new("TagResource", json!({"ResourceArn": arn(random, table), "Tags": tags}))
}

fn untag(random: &mut Random, table: &Table) -> Request {
    let keys = match random.below(6) {
        0 => json!([]),
        _ => json!([random.word(&["team", "cost", "absent"])]),
    };
    Request::new("UntagResource", json!({"ResourceArn": arn(random, table), "TagKeys": keys}))
}

fn list_streams(random: &mut Random, table: &Table) -> Request {
    let mut body = json!({"TableName": table.name});
    match random.below(6) {
        0 => body["TableName"] = "parity-absent".into(),
        1 => body["Limit"] = json!(*random.pick(&[0, 1, 101])),
        _ => {}
    }
    Request::new("ListStreams", body)
}

fn stream_arn(random: &mut Random, table: &Table) -> String {
    match random.below(10) {
        0 => "arn:aws:dynamodb:us-east-1:000000000000:table/absent/stream/2020-01-01T00:00:00.000".to_owned(),
        _ => format!("$stream:{}", table.name),
    }
}

fn describe_stream(random: &mut Random, table: &Table) -> Request {
    Request::new("DescribeStream", json!({"StreamArn": stream_arn(random, table)}))
}

fn shard_iterator(random: &mut Random, table: &Table) -> Request {
    let shard = match random.below(8) {
        0 => "shardId-00000000000000000000-00000000".to_owned(),
        _ => format!("$shard:{}", table.name),
    };
    let mut body = json!({"StreamArn": stream_arn(random, table), "ShardId": shard});
    body["ShardIteratorType"] = match random.below(8) {
        0 => "SIDEWAYS",
        1 => "AT_SEQUENCE_NUMBER",
        2 | 3 => "LATEST",
        _ => "TRIM_HORIZON",
    }
    .into();
    if random.percent(10) {
        body["SequenceNumber"] = "100".into();
    }
    Request::new("GetShardIterator", body)
}

fn records(random: &mut Random, table: &Table) -> Request {
    let body = match random.below(3) {
        0 => json!({"ShardIterator": "no iterator"}),
        1 => json!({"ShardIterator": format!("$iterator:{}", table.name), "Limit": *random.pick(&[0, 1001])}),
        _ => json!({}),
    };
    Request::new("GetRecords", body)
}

/// Writes one item that no other request writes, and reads the records that this leaves in the stream.
fn written_records(random: &mut Random, table: &Table) -> Request {
    if table.stream.is_none() || table.hash.kind == Kind::B {
        return list_streams(random, table);
    }
    let number = random.below(1_000_000_000);
    let mut key = table.random_key(random);
    key[&table.hash.name] = match table.hash.kind {
        Kind::N => json!({"N": (1_000 + number).to_string()}),
        Kind::S | Kind::B => json!({"S": format!("stream-{number}")}),
    };
    let mut item = Value::Object(attributes(random, table));
    if let (Value::Object(item), Value::Object(key)) = (&mut item, &key) {
        item.extend(key.clone());
    }
    let mut writes: Vec<Value> = (0..random.between(1, 4)).map(|_| write(random, table, &item, &key)).collect();
    writes.push(json!(["DeleteItem", {"TableName": table.name, "Key": key}]));
    let body = json!({"TableName": table.name, "Key": key, "Writes": writes});
    Request::new("GetRecords", body).read(Reading::Written)
}

fn write(random: &mut Random, table: &Table, item: &Value, key: &Value) -> Value {
    let name = &table.name;
    let update = |text: &str| json!({"TableName": name, "Key": key, "UpdateExpression": text, "ExpressionAttributeValues": {":v": {"S": "same"}}});
    match random.below(7) {
        0 | 1 => json!(["PutItem", {"TableName": name, "Item": item}]),
        2 | 3 => json!(["UpdateItem", update("SET a = :v")]),
        4 => json!(["DeleteItem", {"TableName": name, "Key": key}]),
        5 => json!(["BatchWriteItem", {"RequestItems": {name: [{"PutRequest": {"Item": item}}]}}]),
        _ => json!(["TransactWriteItems", {"TransactItems": [{"Update": update("SET b = :v")}]}]),
    }
}
