//! The measured requests: six kinds over 10,000 items of 1 KB and 50 partitions of 100 items.

use std::fmt;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use keyform_driver::http::{Connection, request};
use keyform_driver::sigv4::Signer;
use serde_json::{Value, json};

const ITEMS_LOADED: usize = 10_000;
const KEYS: usize = 100_000;
const PARTITIONS: usize = 50;
const PARTITION_ITEMS: usize = 100;
/// Number of different requests that are signed beforehand and sent in turn.
const POOL: usize = 4_096;

/// One kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Workload {
    Put,
    Get,
    Query50,
    AddHot,
    Transact2,
    Batch25,
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Put => "put",
            Self::Get => "get",
            Self::Query50 => "query50",
            Self::AddHot => "add-hot",
            Self::Transact2 => "transact2",
            Self::Batch25 => "batch25",
        })
    }
}

impl Workload {
    /// All kinds, in the order of the tables.
    pub const ALL: [Self; 6] = [Self::Put, Self::Get, Self::Query50, Self::AddHot, Self::Transact2, Self::Batch25];

    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|workload| workload.to_string() == text);
        known.ok_or_else(|| format!("unknown workload {text}"))
    }

    /// Signed requests for a server.
    pub fn requests(self, address: SocketAddr) -> Vec<Vec<u8>> {
        let host = address.to_string();
        let signer = Signer::now(&host);
        let mut numbers = Numbers(42);
        let sign = |(operation, body): (&str, Value)| {
            request(&signer, &host, &format!("DynamoDB_20120810.{operation}"), body.to_string().as_bytes())
        };
        (0..self.pool()).map(|_| sign(self.body(&mut numbers))).collect()
    }

    fn pool(self) -> usize {
        match self {
            Self::AddHot => 1,
            Self::Batch25 => 256,
            _ => POOL,
        }
    }

    fn body(self, numbers: &mut Numbers) -> (&'static str, Value) {
        match self {
            Self::Put => ("PutItem", json!({"TableName": "items", "Item": item(numbers.below(KEYS))})),
            Self::Get => {
                ("GetItem", json!({"TableName": "items", "Key": {"pk": {"S": key(numbers.below(ITEMS_LOADED))}}}))
            }
            Self::Query50 => ("Query", query(numbers.below(PARTITIONS))),
            Self::AddHot => ("UpdateItem", add()),
            Self::Transact2 => ("TransactWriteItems", transaction(numbers)),
            Self::Batch25 => ("BatchWriteItem", batch("items", scattered(numbers.below(KEYS)).map(item))),
        }
    }
}

fn key(number: usize) -> String {
    format!("key-{number:06}")
}

/// Returns an item of about 1 KB.
fn item(number: usize) -> Value {
    json!({
        "pk": {"S": key(number)},
        "version": {"N": "1"},
        "title": {"S": format!("item number {number}")},
        "active": {"BOOL": true},
        "body": {"S": "x".repeat(940)},
    })
}

fn query(partition: usize) -> Value {
    json!({
        "TableName": "events",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": format!("partition-{partition}")}},
        "ScanIndexForward": false,
        "Limit": 50,
    })
}

fn add() -> Value {
    json!({
        "TableName": "items",
        "Key": {"pk": {"S": "hot"}},
        "UpdateExpression": "ADD hits :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    })
}

/// Returns a conditional Put and a conditional Update of two different items; both conditions hold.
fn transaction(numbers: &mut Numbers) -> Value {
    let number = numbers.below(KEYS / 2);
    json!({"TransactItems": [
        {"Put": {
            "TableName": "items",
            "Item": item(number * 2),
            "ConditionExpression": "attribute_not_exists(pk) OR version = :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }},
        {"Update": {
            "TableName": "items",
            "Key": {"pk": {"S": key(number * 2 + 1)}},
            "UpdateExpression": "ADD hits :one",
            "ConditionExpression": "attribute_not_exists(closed)",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }},
    ]})
}

/// Returns 25 different keys, far apart.
fn scattered(from: usize) -> impl Iterator<Item = usize> {
    (0..25).map(move |step| (from + step * 3_967) % KEYS)
}

fn batch(table: &str, items: impl Iterator<Item = Value>) -> Value {
    let puts: Vec<Value> = items.map(|item| json!({"PutRequest": {"Item": item}})).collect();
    json!({"RequestItems": {table: puts}})
}

/// A fixed sequence of numbers, so that every server gets the same requests.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }
}

/// Creates the two tables and fills them.
pub fn load(address: SocketAddr) -> Result<(), String> {
    let mut connection = Connection::to(address);
    create(&mut connection, "items", None)?;
    create(&mut connection, "events", Some("sk"))?;
    let numbers: Vec<usize> = (0..ITEMS_LOADED).collect();
    for part in numbers.chunks(25) {
        call(&mut connection, "BatchWriteItem", &batch("items", part.iter().map(|number| item(*number))))?;
    }
    for partition in 0..PARTITIONS {
        let numbers: Vec<usize> = (0..PARTITION_ITEMS).collect();
        for part in numbers.chunks(25) {
            let events = part.iter().map(|number| event(partition, *number));
            call(&mut connection, "BatchWriteItem", &batch("events", events))?;
        }
    }
    Ok(())
}

/// Returns an item of about 200 bytes.
fn event(partition: usize, number: usize) -> Value {
    json!({
        "pk": {"S": format!("partition-{partition}")},
        "sk": {"N": number.to_string()},
        "kind": {"S": "message"},
        "text": {"S": "y".repeat(140)},
    })
}

fn create(connection: &mut Connection, name: &str, sort: Option<&str>) -> Result<(), String> {
    let mut definitions = vec![json!({"AttributeName": "pk", "AttributeType": "S"})];
    let mut schema = vec![json!({"AttributeName": "pk", "KeyType": "HASH"})];
    if let Some(sort) = sort {
        definitions.push(json!({"AttributeName": sort, "AttributeType": "N"}));
        schema.push(json!({"AttributeName": sort, "KeyType": "RANGE"}));
    }
    let body = json!({
        "TableName": name,
        "AttributeDefinitions": definitions,
        "KeySchema": schema,
        "BillingMode": "PAY_PER_REQUEST",
    });
    call(connection, "CreateTable", &body)?;
    wait_until_active(connection, name)
}

fn wait_until_active(connection: &mut Connection, name: &str) -> Result<(), String> {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        let answer = call(connection, "DescribeTable", &json!({"TableName": name}))?;
        if answer["Table"]["TableStatus"] == "ACTIVE" {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("{name} did not become active"))
}

fn call(connection: &mut Connection, operation: &str, body: &Value) -> Result<Value, String> {
    let target = format!("DynamoDB_20120810.{operation}");
    let answer = connection.call(&target, body.to_string().as_bytes()).map_err(|error| error.to_string())?;
    if answer.status != 200 {
        return Err(format!("{operation}: {} {}", answer.status, String::from_utf8_lossy(&answer.body)));
    }
    serde_json::from_slice(&answer.body).map_err(|error| error.to_string())
}
