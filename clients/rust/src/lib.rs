//! Shared code of the Rust suite: clients that find the server with `AWS_ENDPOINT_URL_DYNAMODB`, and tables with unique
//! names. The credentials come from the environment, or are AWS's documented example pair.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType, StreamSpecification,
    StreamViewType, TableStatus,
};
use aws_sdk_dynamodbstreams::types::{Record, ShardIteratorType};

static TABLES: AtomicU32 = AtomicU32::new(0);

fn variable(name: &str, fallback: &str) -> String {
    env::var(name).unwrap_or_else(|_| fallback.to_owned())
}

fn endpoint() -> String {
    env::var("AWS_ENDPOINT_URL_DYNAMODB").expect("AWS_ENDPOINT_URL_DYNAMODB names the server to test")
}

fn credentials() -> Credentials {
    let key = variable("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE");
    let secret = variable("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
    Credentials::from_keys(key, secret, None)
}

/// Returns a client for items and tables.
pub fn client() -> Client {
    let config = aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(variable("AWS_REGION", "us-east-1")))
        .endpoint_url(endpoint())
        .credentials_provider(credentials())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .build();
    Client::from_conf(config)
}

/// Returns a client for streams.
pub fn streams() -> aws_sdk_dynamodbstreams::Client {
    let config = aws_sdk_dynamodbstreams::Config::builder()
        .behavior_version(aws_sdk_dynamodbstreams::config::BehaviorVersion::latest())
        .region(aws_sdk_dynamodbstreams::config::Region::new(variable("AWS_REGION", "us-east-1")))
        .endpoint_url(endpoint())
        .credentials_provider(credentials())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .build();
    aws_sdk_dynamodbstreams::Client::from_conf(config)
}

fn definition(name: &str, kind: ScalarAttributeType) -> AttributeDefinition {
    AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build().expect("all is given")
}

fn element(name: &str, kind: KeyType) -> KeySchemaElement {
    KeySchemaElement::builder().attribute_name(name).key_type(kind).build().expect("all is given")
}

/// Creates a table with the string key `pk`, the number key `sk` and a stream, and waits until it is active.
pub async fn make_table(client: &Client) -> String {
    let name = format!("rust-{}-{}", std::process::id(), TABLES.fetch_add(1, Ordering::Relaxed));
    let stream = StreamSpecification::builder()
        .stream_enabled(true)
        .stream_view_type(StreamViewType::NewAndOldImages)
        .build()
        .expect("all is given");
    client
        .create_table()
        .table_name(&name)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(definition("pk", ScalarAttributeType::S))
        .attribute_definitions(definition("sk", ScalarAttributeType::N))
        .key_schema(element("pk", KeyType::Hash))
        .key_schema(element("sk", KeyType::Range))
        .stream_specification(stream)
        .send()
        .await
        .expect("the table can be created");
    wait_until_active(client, &name).await;
    name
}

async fn wait_until_active(client: &Client, name: &str) {
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        let table = client.describe_table().table_name(name).send().await.expect("the table exists").table;
        if table.and_then(|table| table.table_status) == Some(TableStatus::Active) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{name} did not become active");
}

/// Returns all records of a table's stream, shard by shard, from the oldest.
pub async fn read_stream(client: &Client, streams: &aws_sdk_dynamodbstreams::Client, table: &str) -> Vec<Record> {
    let described = client.describe_table().table_name(table).send().await.expect("the table exists");
    let arn = described.table.and_then(|table| table.latest_stream_arn).expect("the table has a stream");
    let stream = streams.describe_stream().stream_arn(&arn).send().await.expect("the stream exists");
    let shards = stream.stream_description.and_then(|found| found.shards).unwrap_or_default();
    let mut records = Vec::new();
    for shard in shards {
        let shard = shard.shard_id.expect("a shard has an id");
        records.extend(read_shard(streams, &arn, &shard).await);
    }
    records
}

async fn read_shard(streams: &aws_sdk_dynamodbstreams::Client, arn: &str, shard: &str) -> Vec<Record> {
    let start = streams.get_shard_iterator().stream_arn(arn).shard_id(shard);
    let first = start.shard_iterator_type(ShardIteratorType::TrimHorizon).send().await;
    let mut iterator = first.expect("the shard can be read").shard_iterator;
    let mut records = Vec::new();
    while let Some(current) = iterator {
        let page = streams.get_records().shard_iterator(current).send().await.expect("the iterator is good");
        let found = page.records.unwrap_or_default();
        if found.is_empty() {
            break;
        }
        records.extend(found);
        iterator = page.next_shard_iterator;
    }
    records
}
