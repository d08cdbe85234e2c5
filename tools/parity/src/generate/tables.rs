//! Table management: descriptions, time to live, and tables that are usually rejected.
//!
//! Created tables have a name of their own, which the runner deletes again.

use serde_json::{Value, json};

use crate::random::Random;
use crate::request::{Reading, Request};
use crate::world::Table;

/// The name that CreateTable requests use; the runner deletes it when one succeeds.
pub const SCRATCH: &str = "parity-scratch";

/// Returns a random request about tables. Operations that not all servers support are sent to the last table only,
/// which no request about streams uses.
pub fn request(random: &mut Random, table: &Table, last: &Table) -> Request {
    match random.weighted(&[30, 80, 50, 20, 30, 10, 1]) {
        0 => Request::new("DescribeTable", json!({"TableName": table.name})),
        1 => create(random),
        2 => update(random, table, last),
        3 => Request::new("DescribeTimeToLive", json!({"TableName": table.name})),
        4 => time_to_live(random, table),
        6 => index(random, table),
        _ => Request::new("ListTables", json!({"Limit": random.between(1, 100)})),
    }
}

fn create(random: &mut Random) -> Request {
    let mut body = Table::random(random, SCRATCH.to_owned()).create();
    match random.below(4) {
        0 => {
            body["BillingMode"] = "PROVISIONED".into();
            body["ProvisionedThroughput"] = json!({"ReadCapacityUnits": 5, "WriteCapacityUnits": 5});
            let indexes = body.get_mut("GlobalSecondaryIndexes").and_then(Value::as_array_mut);
            for index in indexes.into_iter().flatten() {
                index["ProvisionedThroughput"] = json!({"ReadCapacityUnits": 5, "WriteCapacityUnits": 5});
            }
        }
        1 => body["DeletionProtectionEnabled"] = false.into(),
        _ => {}
    }
    // Most violate some rule, because creating a table takes a second on every server.
    if random.percent(95) {
        break_schema(random, &mut body);
    }
    changing(Request::new("CreateTable", body), SCRATCH)
}

fn changing(mut request: Request, table: &str) -> Request {
    request.table_changed = Some(table.to_owned());
    request
}

fn break_schema(random: &mut Random, body: &mut Value) {
    let all = json!({"ProjectionType": "ALL"});
    let index = |name: &str, attribute: &str| json!({"IndexName": name, "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}], "Projection": all});
    match random.below(16) {
        0 => body["AttributeDefinitions"] = json!([{"AttributeName": "other", "AttributeType": "S"}]),
        1 => body["KeySchema"] = json!([{"AttributeName": "pk", "KeyType": "RANGE"}]),
        2 => {
            body["KeySchema"] =
                json!([{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "pk", "KeyType": "RANGE"}])
        }
        3 => body["GlobalSecondaryIndexes"] = json!([index("dup", "pk"), index("dup", "pk")]),
        4 => body["GlobalSecondaryIndexes"] = json!([index("undef", "undefined")]),
        5 => body["GlobalSecondaryIndexes"] = json!([]),
        6 => body["StreamSpecification"] = json!({"StreamEnabled": true}),
        7 => body["BillingMode"] = "PROVISIONED".into(),
        8 => body["ProvisionedThroughput"] = json!({"ReadCapacityUnits": 0, "WriteCapacityUnits": 1}),
        9 => body["LocalSecondaryIndexes"] = json!([index("loc2", "pk")]),
        10 => body["AttributeDefinitions"][0]["AttributeType"] = "BOOL".into(),
        11 => body["GlobalSecondaryIndexes"] = (0..21).map(|n| index(&format!("gsi-{n}"), "pk")).collect(),
        12 => {
            body["GlobalSecondaryIndexes"] = json!([{"IndexName": "inc", "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}], "Projection": {"ProjectionType": "INCLUDE"}}])
        }
        13 => body["TableName"] = random.word(&["", "ab", "a b c", "x/y"]).into(),
        14 => body["KeySchema"] = json!([]),
        _ => body["BillingMode"] = "FREE".into(),
    }
}

fn update(random: &mut Random, table: &Table, last: &Table) -> Request {
    let mut body = json!({"TableName": table.name});
    match random.below(7) {
        0 => {}
        1 => body["BillingMode"] = "PROVISIONED".into(),
        2 => body["ProvisionedThroughput"] = json!({"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}),
        3 => body["GlobalSecondaryIndexUpdates"] = json!([{"Delete": {"IndexName": "absent"}}]),
        4 => {
            body["GlobalSecondaryIndexUpdates"] = json!([{"Create": {"IndexName": "fresh", "KeySchema": [{"AttributeName": "undefined", "KeyType": "HASH"}], "Projection": {"ProjectionType": "ALL"}}}]);
        }
        5 => body["GlobalSecondaryIndexUpdates"] = json!([]),
        _ => body = json!({"TableName": last.name, "StreamSpecification": {"StreamEnabled": true}}),
    }
    changing(Request::new("UpdateTable", body), &table.name)
}

/// Adds an index over existing items; reads it when it is backfilled, and then deletes it.
fn index(random: &mut Random, table: &Table) -> Request {
    let (attribute, kind) = *random.pick(&[("txt", "S"), ("cnt", "N")]);
    let mut definitions: Vec<Value> = table.create()["AttributeDefinitions"].as_array().cloned().unwrap_or_default();
    definitions.push(json!({"AttributeName": attribute, "AttributeType": kind}));
    let create = json!({"IndexName": "fresh", "KeySchema": [{"AttributeName": attribute, "KeyType": "HASH"}], "Projection": {"ProjectionType": random.word(&["ALL", "KEYS_ONLY"])}});
    let body = json!({"TableName": table.name, "AttributeDefinitions": definitions, "GlobalSecondaryIndexUpdates": [{"Create": create}]});
    let scan = Request::new("Scan", json!({"TableName": table.name, "IndexName": "fresh"})).read(Reading::AnyOrder);
    let describe = Request::new("DescribeTable", json!({"TableName": table.name}));
    let delete = json!({"TableName": table.name, "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "fresh"}}]});
    let delete = changing(Request::new("UpdateTable", delete), &table.name);
    let mut request = changing(Request::new("UpdateTable", body), &table.name);
    request.then = vec![describe, scan, delete];
    request
}

fn time_to_live(random: &mut Random, table: &Table) -> Request {
    let specification = match random.below(8) {
        0 => json!({"AttributeName": "", "Enabled": true}),
        1 => json!({"Enabled": true}),
        2 => json!({"AttributeName": "expires"}),
        3 => json!({"AttributeName": "other", "Enabled": true}),
        4 | 5 => json!({"AttributeName": "expires", "Enabled": true}),
        _ => json!({"AttributeName": "expires", "Enabled": false}),
    };
    let body = json!({"TableName": table.name, "TimeToLiveSpecification": specification});
    Request::new("UpdateTimeToLive", body)
}
