//! Writes one item several times and reads the records of the table's stream, without server-specific numbers and
//! times.

#![expect(clippy::disallowed_methods, reason = "it waits for servers")]

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::names;
use crate::outcome::Outcome;
use crate::target::Target;

const PAGES_MAX: usize = 20;
const WAITS_MAX: usize = 8;
const WAIT: Duration = Duration::from_millis(25);

/// Performs the writes of a request one after another, and returns their results and the records of their item.
pub fn ask(target: &mut Target, body: &Value) -> Outcome {
    let (table, key) = (body["TableName"].as_str().unwrap_or_default(), &body["Key"]);
    let writes = body["Writes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let statuses: Vec<u16> = writes.iter().map(|write| status(target, write)).collect();
    let mut records = of_item(target, table, key);
    // Streams may lag behind their tables; the delete at the end is the last record.
    for _ in 0..WAITS_MAX {
        if records.last().is_some_and(|record| record["eventName"] == "REMOVE") {
            break;
        }
        sleep(WAIT);
        records = of_item(target, table, key);
    }
    Outcome { status: 200, kind: None, message: String::new(), body: json!({"Writes": statuses, "Records": records}) }
}

fn status(target: &mut Target, write: &Value) -> u16 {
    write[0].as_str().map_or(0, |operation| target.simple(operation, &write[1]).status)
}

fn of_item(target: &mut Target, table: &str, key: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    for shard in names::shards(target, table) {
        let mut next = names::iterator(target, table, &shard);
        for _ in 0..PAGES_MAX {
            let Some(iterator) = next.take() else { break };
            let answer = target.raw("DynamoDBStreams_20120810.GetRecords", &json!({"ShardIterator": iterator}));
            let page = answer["Records"].as_array().cloned().unwrap_or_default();
            if page.is_empty() {
                break;
            }
            found.extend(page.into_iter().filter(|record| record["dynamodb"]["Keys"] == *key).map(normal));
            next = answer["NextShardIterator"].as_str().map(str::to_owned);
        }
    }
    found
}

/// Reduces a record to the parts on which all servers must agree.
fn normal(mut record: Value) -> Value {
    let mut kept = json!({"eventName": record["eventName"].take()});
    for member in ["NewImage", "OldImage", "StreamViewType", "SizeBytes"] {
        if let Some(value) = record["dynamodb"].get_mut(member) {
            kept[member] = value.take();
        }
    }
    crate::outcome::sort_sets(&mut kept);
    kept
}
