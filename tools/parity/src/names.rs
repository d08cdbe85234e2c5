//! Names of each server's tables, streams, shards and iterators. A request has placeholders such as `$table:NAME`;
//! placeholders for things that a server does not have stay unchanged, and the server rejects them.

use serde_json::{Value, json};

use crate::target::Target;

/// Returns the body with the server's own names.
pub fn resolved(target: &mut Target, body: &Value) -> Value {
    match body {
        Value::String(text) if text.starts_with('$') => name(target, text).map_or_else(|| body.clone(), Value::from),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(name, inner)| (name.clone(), resolved(target, inner))).collect())
        }
        Value::Array(list) => list.iter().map(|inner| resolved(target, inner)).collect(),
        other => other.clone(),
    }
}

fn name(target: &mut Target, text: &str) -> Option<String> {
    let (what, table) = text.split_once(':')?;
    match what {
        "$table" => described(target, table, "TableArn"),
        "$stream" => described(target, table, "LatestStreamArn"),
        "$shard" => shards(target, table).into_iter().next(),
        "$iterator" => {
            let shard = shards(target, table).into_iter().next()?;
            iterator(target, table, &shard)
        }
        _ => None,
    }
}

fn described(target: &mut Target, table: &str, member: &str) -> Option<String> {
    let answer = target.raw("DynamoDB_20120810.DescribeTable", &json!({"TableName": table}));
    answer["Table"][member].as_str().map(str::to_owned)
}

/// Returns the shards of a table's stream, oldest first.
pub fn shards(target: &mut Target, table: &str) -> Vec<String> {
    let Some(stream) = described(target, table, "LatestStreamArn") else { return Vec::new() };
    let answer = target.raw("DynamoDBStreams_20120810.DescribeStream", &json!({"StreamArn": stream}));
    let shards = answer["StreamDescription"]["Shards"].as_array().cloned().unwrap_or_default();
    shards.iter().filter_map(|shard| shard["ShardId"].as_str().map(str::to_owned)).collect()
}

/// Returns an iterator at the beginning of a shard.
pub fn iterator(target: &mut Target, table: &str, shard: &str) -> Option<String> {
    let stream = described(target, table, "LatestStreamArn")?;
    let body = json!({"StreamArn": stream, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"});
    let answer = target.raw("DynamoDBStreams_20120810.GetShardIterator", &body);
    answer["ShardIterator"].as_str().map(str::to_owned)
}
