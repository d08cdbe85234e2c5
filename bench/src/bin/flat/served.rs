//! Processor time of the server per HTTP operation, on the loaded data.

use std::path::Path;
use std::time::Duration;

use keyform_bench::generator::Load;
use keyform_driver::http::request;
use keyform_driver::process::cpu_time;
use keyform_driver::server::{Engine, Launch, Server, Storage};
use keyform_driver::sigv4::Signer;
use serde_json::{Value, json};

use crate::{PER_PARTITION, ROUNDS, Random};

const CONNECTIONS: usize = 16;
/// Number of different requests: enough to read all parts of a large database.
const REQUESTS: usize = 50_000;
const ROUND: Duration = Duration::from_secs(2);

/// Serves the folder, and prints the cost.
pub fn measure(binary: &Path, folder: &Path, size: usize) {
    let launch = Launch {
        engine: Engine::Keyform,
        binary: binary.canonicalize().expect("the binary"),
        storage: Storage::Disk,
        folder: folder.to_owned(),
        arguments: ["--durability", "os"].map(str::to_owned).into(),
    };
    let server = launch.start().expect("the server starts");
    let get = cost(&server, size, "GetItem", |number| json!({"TableName": "flat", "Key": key(number)}));
    let query = cost(&server, size, "Query", |number| query(number / PER_PARTITION));
    let put = cost(&server, size, "PutItem", |number| json!({"TableName": "flat", "Item": item(number)}));
    println!("| {size} | served | | {get:.1} µs | {put:.1} µs | {query:.1} µs | |");
}

/// Returns the processor time of the server for one operation, in microseconds: the median of the rounds after a
/// warm-up.
fn cost(server: &Server, size: usize, operation: &str, body: impl Fn(usize) -> Value) -> f64 {
    let host = server.address().to_string();
    let signer = Signer::now(&host);
    let mut random = Random::default();
    let target = format!("DynamoDB_20120810.{operation}");
    let sign = |_| request(&signer, &host, &target, body(random.next() % size).to_string().as_bytes());
    let requests: Vec<Vec<u8>> = (0..REQUESTS).map(sign).collect();
    let mut load = Load::open(server.address(), CONNECTIONS, &requests).expect("connects");
    load.run(3 * ROUND).expect("warms up");
    let mut costs: Vec<f64> = (0..ROUNDS).map(|_| round(server, &mut load)).collect();
    costs.sort_by(f64::total_cmp);
    costs[ROUNDS / 2]
}

fn round(server: &Server, load: &mut Load<'_>) -> f64 {
    let before = cpu_time(server.pid());
    let sample = load.run(ROUND).expect("the load runs");
    assert_eq!(sample.refused, 0, "{}", sample.refusal.unwrap_or_default());
    (cpu_time(server.pid()) - before).as_secs_f64() * 1e6 / sample.latencies.len() as f64
}

fn key(number: usize) -> Value {
    json!({
        "pk": {"S": format!("partition-{}", number / PER_PARTITION)},
        "sk": {"S": format!("{:04}", number % PER_PARTITION)},
    })
}

fn item(number: usize) -> Value {
    let mut item = key(number);
    item["data"] = json!({"S": format!("{number:064}")});
    item
}

fn query(partition: usize) -> Value {
    json!({
        "TableName": "flat",
        "KeyConditionExpression": "pk = :p",
        "ExpressionAttributeValues": {":p": {"S": format!("partition-{partition}")}},
        "ScanIndexForward": false,
        "Limit": 50,
    })
}
