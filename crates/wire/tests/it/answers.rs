//! JSON encoding of outputs and errors.

use std::collections::BTreeMap;

use keyform_core::capacity::{CapacityDetail, ConsumedCapacity};
use keyform_core::error::{CancellationCause, CancellationReason, item, request, transaction};
use keyform_core::operation::{
    BatchExecuteStatementOutput, BatchGetItemOutput, BatchWriteItemOutput, ChangeKind, ChangeRecord, ContinuousBackups,
    DescribeLimitsOutput, ExecuteStatementOutput, GetRecordsOutput, ItemCollectionMetrics, ListStreamsOutput,
    ListTablesOutput, ListTagsOfResourceOutput, PageOutput, SequenceNumber, Shard, StatementResponse,
    StreamDescription, StreamListing, TimeToLive, TimeToLiveStatus, TransactGetItemsOutput, TransactWriteItemsOutput,
    UserIdentity, WriteItemOutput, WriteRequest,
};
use keyform_core::table::{
    AttributeDefinitions, BillingMode, GlobalIndex, GlobalIndexDescription, KeySchema, LocalIndex,
    LocalIndexDescription, OnDemandThroughput, Projection, ScalarType, SseDescription, Status, StreamSummary,
    StreamView, TableClass, TableDescription, Tag, Throughput, ThroughputDescription, WarmThroughput,
};
use keyform_core::{AttributeValue, Attributes, Error, Item, Output};
use keyform_wire::{Decoded, decode, encode, encode_error};

/// Encodes an output as the response to a request.
fn answer(operation: &str, body: &str, output: &Output) -> String {
    let service = if operation.contains('_') { "" } else { "DynamoDB_20120810." };
    let Ok(Decoded::Operation(request)) = decode(&format!("{service}{operation}"), body.as_bytes()) else {
        panic!("{operation} {body} is accepted");
    };
    let mut out = Vec::new();
    encode(&request.echo, output, &mut out);
    String::from_utf8(out).expect("answers are UTF-8")
}

fn check(operation: &str, body: &str, output: Output, expected: &str) {
    assert_eq!(answer(operation, body, &output), expected, "{operation}");
}

fn check_error(error: &Error, expected: &str) {
    let mut out = Vec::new();
    encode_error(error, &mut out);
    assert_eq!(String::from_utf8(out).expect("errors are UTF-8"), expected);
}

fn attributes(name: &str, value: impl Into<AttributeValue>) -> Attributes {
    Attributes::from([(name.to_owned(), value.into())])
}

fn an_item(name: &str, value: impl Into<AttributeValue>) -> Item {
    Item::from(&attributes(name, value))
}

fn capacity(detail: bool) -> ConsumedCapacity {
    let detail = detail.then(|| CapacityDetail {
        table: 1.0,
        local: BTreeMap::from([("lsi".to_owned(), 1.0)]),
        global: BTreeMap::from([("gsi".to_owned(), 0.5)]),
    });
    ConsumedCapacity { table: "abc".to_owned(), total: 2.5, detail, ..Default::default() }
}

const KEYED: &str = r#"{"TableName":"abc","Key":{"pk":{"S":"a"}}}"#;

#[test]
fn writes_answer_attributes_capacity_and_metrics() {
    let metrics = ItemCollectionMetrics { key: attributes("pk", "a"), size_gigabytes: [0.0, 1.0] };
    let output =
        WriteItemOutput { attributes: Some(an_item("n", 5)), capacity: Some(capacity(true)), metrics: Some(metrics) };
    check(
        "DeleteItem",
        KEYED,
        Output::DeleteItem(output),
        r#"{"Attributes":{"n":{"N":"5"}},"ConsumedCapacity":{"TableName":"abc","CapacityUnits":2.5,"Table":{"CapacityUnits":1.0},"LocalSecondaryIndexes":{"lsi":{"CapacityUnits":1.0}},"GlobalSecondaryIndexes":{"gsi":{"CapacityUnits":0.5}}},"ItemCollectionMetrics":{"ItemCollectionKey":{"pk":{"S":"a"}},"SizeEstimateRangeGB":[0.0,1.0]}}"#,
    );
    check("UpdateItem", KEYED, Output::UpdateItem(WriteItemOutput::default()), "{}");
}

#[test]
fn capacity_names_the_table_as_it_was_addressed() {
    let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/abc";
    let output = WriteItemOutput { capacity: Some(capacity(false)), ..Default::default() };
    check(
        "DeleteItem",
        &KEYED.replace("\"abc\"", &format!("\"{arn}\"")),
        Output::DeleteItem(output),
        &format!(r#"{{"ConsumedCapacity":{{"TableName":"{arn}","CapacityUnits":2.5}}}}"#),
    );
}

#[test]
fn pages_answer_items_or_only_counts() {
    let page = PageOutput {
        items: Some(vec![an_item("pk", "a\"b"), an_item("pk", "c")]),
        count: 2,
        scanned: 3,
        last_key: Some(an_item("pk", "c")),
        capacity: None,
    };
    check(
        "Scan",
        r#"{"TableName":"abc"}"#,
        Output::Scan(page),
        r#"{"Items":[{"pk":{"S":"a\"b"}},{"pk":{"S":"c"}}],"Count":2,"ScannedCount":3,"LastEvaluatedKey":{"pk":{"S":"c"}}}"#,
    );
    let count = PageOutput { count: 7, scanned: 9, ..Default::default() };
    check("Scan", r#"{"TableName":"abc"}"#, Output::Scan(count), r#"{"Count":7,"ScannedCount":9}"#);
}

#[test]
fn batch_get_names_what_was_not_read_as_it_was_asked() {
    let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/abc";
    let body = format!(
        r##"{{"RequestItems":{{"{arn}":{{"Keys":[{{"pk":{{"S":"a"}}}},{{"pk":{{"S":"b"}}}}],"ProjectionExpression":"#x","ExpressionAttributeNames":{{"#x":"y"}},"ConsistentRead":true}}}}}}"##
    );
    let output = BatchGetItemOutput {
        responses: BTreeMap::from([("abc".to_owned(), vec![an_item("y", true)])]),
        unprocessed: BTreeMap::from([("abc".to_owned(), vec![1])]),
        capacity: vec![capacity(false)],
    };
    let expected = format!(
        r##"{{"Responses":{{"{arn}":[{{"y":{{"BOOL":true}}}}]}},"UnprocessedKeys":{{"{arn}":{{"Keys":[{{"pk":{{"S":"b"}}}}],"ProjectionExpression":"#x","ExpressionAttributeNames":{{"#x":"y"}},"ConsistentRead":true}}}},"ConsumedCapacity":[{{"TableName":"{arn}","CapacityUnits":2.5}}]}}"##
    );
    check("BatchGetItem", &body, Output::BatchGetItem(output), &expected);
}

#[test]
fn batch_write_names_what_was_not_written() {
    let body = r#"{"RequestItems":{"abc":[{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]}}"#;
    let requests = vec![WriteRequest::Put(attributes("pk", "b")), WriteRequest::Delete(attributes("pk", "a"))];
    let output =
        BatchWriteItemOutput { unprocessed: BTreeMap::from([("abc".to_owned(), requests)]), ..Default::default() };
    check(
        "BatchWriteItem",
        body,
        Output::BatchWriteItem(output),
        r#"{"UnprocessedItems":{"abc":[{"PutRequest":{"Item":{"pk":{"S":"b"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"a"}}}}]}}"#,
    );
    check(
        "BatchWriteItem",
        body,
        Output::BatchWriteItem(BatchWriteItemOutput::default()),
        r#"{"UnprocessedItems":{}}"#,
    );
}

#[test]
fn transactions_answer_one_object_for_each_read() {
    let gets = r#"{"TransactItems":[{"Get":{"TableName":"abc","Key":{"pk":{"S":"a"}}}}]}"#;
    let reads = ConsumedCapacity { table: "abc".to_owned(), total: 4.0, read: Some(4.0), ..Default::default() };
    let output = TransactGetItemsOutput { responses: vec![Some(an_item("n", 1)), None], capacity: vec![reads] };
    check(
        "TransactGetItems",
        gets,
        Output::TransactGetItems(output),
        r#"{"Responses":[{"Item":{"n":{"N":"1"}}},{}],"ConsumedCapacity":[{"TableName":"abc","CapacityUnits":4.0,"ReadCapacityUnits":4.0}]}"#,
    );
    let writes = r#"{"TransactItems":[{"Delete":{"TableName":"abc","Key":{"pk":{"S":"a"}}}}]}"#;
    check("TransactWriteItems", writes, Output::TransactWriteItems(TransactWriteItemsOutput::default()), "{}");
}

#[test]
fn statements_answer_items_or_their_own_errors() {
    let select = r#"{"Statement":"SELECT * FROM abc WHERE pk = 'a'"}"#;
    let output =
        ExecuteStatementOutput { items: vec![an_item("n", 1)], next: Some("t".to_owned()), ..Default::default() };
    check(
        "ExecuteStatement",
        select,
        Output::ExecuteStatement(output),
        r#"{"Items":[{"n":{"N":"1"}}],"NextToken":"t"}"#,
    );
    let responses = vec![
        StatementResponse { table: Some("abc".to_owned()), result: Ok(Some(an_item("n", 1))) },
        StatementResponse { table: None, result: Err(request::empty_attribute_name()) },
        StatementResponse { table: Some("abc".to_owned()), result: Err(item::condition_failed(Some(an_item("n", 2)))) },
    ];
    let output = BatchExecuteStatementOutput { responses, capacity: Vec::new() };
    check(
        "BatchExecuteStatement",
        &format!(r#"{{"Statements":[{select}]}}"#),
        Output::BatchExecuteStatement(output),
        r#"{"Responses":[{"Item":{"n":{"N":"1"}},"TableName":"abc"},{"Error":{"Code":"ValidationError","Message":"Empty attribute name"}},{"Error":{"Code":"ConditionalCheckFailed","Item":{"n":{"N":"2"}},"Message":"The conditional request failed"},"TableName":"abc"}]}"#,
    );
}

#[test]
fn small_answers_about_tables() {
    let table = r#"{"TableName":"abc"}"#;
    let arn = r#"{"ResourceArn":"arn:aws:dynamodb:us-east-1:000000000000:table/abc"}"#;
    let ttl = r#"{"TableName":"abc","TimeToLiveSpecification":{"AttributeName":"t","Enabled":true}}"#;
    let list = ListTablesOutput { tables: vec!["a".to_owned(), "b".to_owned()], last: Some("b".to_owned()) };
    check("ListTables", "{}", Output::ListTables(list), r#"{"TableNames":["a","b"],"LastEvaluatedTableName":"b"}"#);
    let setting = TimeToLive { attribute: "t".to_owned(), enabled: true };
    let expected = r#"{"TimeToLiveSpecification":{"AttributeName":"t","Enabled":true}}"#;
    check("UpdateTimeToLive", ttl, Output::UpdateTimeToLive(setting), expected);
    let status = TimeToLiveStatus { attribute: Some("t".to_owned()) };
    let expected = r#"{"TimeToLiveDescription":{"AttributeName":"t","TimeToLiveStatus":"ENABLED"}}"#;
    check("DescribeTimeToLive", table, Output::DescribeTimeToLive(status), expected);
    let expected = r#"{"TimeToLiveDescription":{"TimeToLiveStatus":"DISABLED"}}"#;
    check("DescribeTimeToLive", table, Output::DescribeTimeToLive(TimeToLiveStatus::default()), expected);
    let expected = r#"{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED","PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}}"#;
    check(
        "DescribeContinuousBackups",
        table,
        Output::DescribeContinuousBackups(ContinuousBackups::default()),
        expected,
    );
    let limits = DescribeLimitsOutput {
        account: Throughput { read: 80000, write: 80000 },
        table: Throughput { read: 40000, write: 40000 },
    };
    let expected = r#"{"AccountMaxReadCapacityUnits":80000,"AccountMaxWriteCapacityUnits":80000,"TableMaxReadCapacityUnits":40000,"TableMaxWriteCapacityUnits":40000}"#;
    check("DescribeLimits", "{}", Output::DescribeLimits(limits), expected);
    let tags = ListTagsOfResourceOutput {
        tags: vec![Tag { key: "k".to_owned(), value: "v".to_owned() }],
        next: Some("n".to_owned()),
    };
    let expected = r#"{"Tags":[{"Key":"k","Value":"v"}],"NextToken":"n"}"#;
    check("ListTagsOfResource", arn, Output::ListTagsOfResource(tags), expected);
}

#[test]
fn a_table_is_described_with_all_it_has() {
    let description = Box::new(full_description());
    let body = r#"{"TableName":"abc"}"#;
    let described = answer("DescribeTable", body, &Output::DescribeTable(description.clone()));
    let expected = concat!(
        r#"{"Table":{"TableName":"abc","TableId":"id","TableArn":"arn","TableStatus":"ACTIVE","CreationDateTime":1700000000.123,"ItemCount":3,"TableSizeBytes":99,"#,
        r#""AttributeDefinitions":[{"AttributeName":"g","AttributeType":"B"},{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"N"}],"#,
        r#""KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"#,
        r#""GlobalSecondaryIndexes":[{"IndexName":"gsi","KeySchema":[{"AttributeName":"g","KeyType":"HASH"},{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],"#,
        r#""Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x"]},"IndexStatus":"CREATING","Backfilling":true,"#,
        r#""ProvisionedThroughput":{"NumberOfDecreasesToday":0,"ReadCapacityUnits":0,"WriteCapacityUnits":0},"OnDemandThroughput":{"MaxReadRequestUnits":5,"MaxWriteRequestUnits":-1},"#,
        r#""IndexSizeBytes":8,"ItemCount":1,"IndexArn":"arn/index/gsi"}],"#,
        r#""LocalSecondaryIndexes":[{"IndexName":"lsi","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"g","KeyType":"RANGE"}],"#,
        r#""Projection":{"ProjectionType":"KEYS_ONLY"},"IndexSizeBytes":7,"ItemCount":2,"IndexArn":"arn/index/lsi"}],"#,
        r#""ProvisionedThroughput":{"LastIncreaseDateTime":1700000001.000,"NumberOfDecreasesToday":1,"ReadCapacityUnits":5,"WriteCapacityUnits":6},"#,
        r#""BillingModeSummary":{"BillingMode":"PAY_PER_REQUEST","LastUpdateToPayPerRequestDateTime":1700000000.123},"#,
        r#""WarmThroughput":{"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":4000,"Status":"ACTIVE"},"#,
        r#""TableClassSummary":{"TableClass":"STANDARD_INFREQUENT_ACCESS"},"#,
        r#""StreamSpecification":{"StreamEnabled":true,"StreamViewType":"NEW_IMAGE"},"LatestStreamLabel":"label","LatestStreamArn":"arn/stream/label","#,
        r#""SSEDescription":{"Status":"ENABLED","SSEType":"KMS","KMSMasterKeyArn":"kms"},"DeletionProtectionEnabled":true}}"#,
    );
    assert_eq!(described, expected);
    let deleted = answer("DeleteTable", body, &Output::DeleteTable(description));
    assert_eq!(deleted.strip_prefix(r#"{"TableDescription":"#), expected.strip_prefix(r#"{"Table":"#));
}

fn key(partition: &[&str], sort: &[&str]) -> KeySchema {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    KeySchema { partition: owned(partition), sort: owned(sort) }
}

fn full_description() -> TableDescription {
    let definitions = [("pk", ScalarType::S), ("sk", ScalarType::N), ("g", ScalarType::B)];
    let global = GlobalIndex {
        name: "gsi".to_owned(),
        key: key(&["g", "pk"], &["sk"]),
        projection: Projection::Include(vec!["x".to_owned()]),
        throughput: None,
        on_demand: Some(OnDemandThroughput { read_max: Some(5), write_max: None }),
        warm: None,
    };
    let local = LocalIndex { name: "lsi".to_owned(), key: key(&["pk"], &["g"]), projection: Projection::KeysOnly };
    TableDescription {
        name: "abc".to_owned(),
        id: "id".to_owned(),
        arn: "arn".to_owned(),
        status: Status::Active,
        created_ms: 1_700_000_000_123,
        attributes: definitions
            .into_iter()
            .map(|(name, kind)| (name.to_owned(), kind))
            .collect::<AttributeDefinitions>(),
        key: key(&["pk"], &["sk"]),
        billing: BillingMode::PayPerRequest,
        on_demand_since_ms: Some(1_700_000_000_123),
        throughput: ThroughputDescription {
            units: Throughput { read: 5, write: 6 },
            last_increase_ms: Some(1_700_000_001_000),
            last_decrease_ms: None,
            decreases_today: 1,
        },
        on_demand: None,
        warm: Some(WarmThroughput { read: Some(12000), write: Some(4000) }),
        item_count: 3,
        size_bytes: 99,
        global_indexes: vec![GlobalIndexDescription {
            index: global,
            arn: "arn/index/gsi".to_owned(),
            status: Status::Creating,
            backfilling: true,
            throughput: ThroughputDescription::default(),
            item_count: 1,
            size_bytes: 8,
        }],
        local_indexes: vec![LocalIndexDescription {
            index: local,
            arn: "arn/index/lsi".to_owned(),
            item_count: 2,
            size_bytes: 7,
        }],
        stream: Some(StreamSummary {
            enabled: true,
            view: StreamView::NewImage,
            label: "label".to_owned(),
            arn: "arn/stream/label".to_owned(),
        }),
        sse: Some(SseDescription { status: "ENABLED".to_owned(), kms_key_arn: "kms".to_owned() }),
        class: Some(TableClass::StandardInfrequentAccess),
        class_since_ms: None,
        deletion_protected: true,
    }
}

#[test]
fn streams_are_listed_described_and_read() {
    let streams = vec![StreamListing { arn: "arn".to_owned(), table: "abc".to_owned(), label: "l".to_owned() }];
    let output = ListStreamsOutput { streams, last: Some("arn".to_owned()) };
    check(
        "DynamoDBStreams_20120810.ListStreams",
        "{}",
        Output::ListStreams(output),
        r#"{"Streams":[{"StreamArn":"arn","TableName":"abc","StreamLabel":"l"}],"LastEvaluatedStreamArn":"arn"}"#,
    );
    let shard = Shard {
        id: "shard-2".to_owned(),
        parent: Some("shard-1".to_owned()),
        start: SequenceNumber(7),
        end: Some(SequenceNumber(9)),
    };
    let description = StreamDescription {
        arn: "arn".to_owned(),
        label: "l".to_owned(),
        status: Status::Active,
        view: StreamView::KeysOnly,
        created_ms: 1_700_000_000_123,
        table: "abc".to_owned(),
        key: key(&["pk"], &[]),
        shards: vec![shard],
        last_shard: None,
    };
    check(
        "DynamoDBStreams_20120810.DescribeStream",
        r#"{"StreamArn":"arn"}"#,
        Output::DescribeStream(description),
        r#"{"StreamDescription":{"StreamArn":"arn","StreamLabel":"l","StreamStatus":"ENABLED","StreamViewType":"KEYS_ONLY","CreationRequestDateTime":1700000000.123,"TableName":"abc","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"Shards":[{"ShardId":"shard-2","ParentShardId":"shard-1","SequenceNumberRange":{"StartingSequenceNumber":"000000000000000000007","EndingSequenceNumber":"000000000000000000009"}}]}}"#,
    );
    let record = ChangeRecord {
        id: "e".to_owned(),
        kind: ChangeKind::Remove,
        at_ms: 1_700_000_000_123,
        keys: an_item("pk", "a"),
        old: Some(an_item("n", 1)),
        new: None,
        sequence: SequenceNumber(8),
        size_bytes: 5,
        view: StreamView::OldImage,
        identity: Some(UserIdentity::TimeToLive),
    };
    let output = GetRecordsOutput { records: vec![record], next: Some("j".to_owned()), region: "eu-west-1".to_owned() };
    check(
        "DynamoDBStreams_20120810.GetRecords",
        r#"{"ShardIterator":"i"}"#,
        Output::GetRecords(output),
        r#"{"Records":[{"eventID":"e","eventName":"REMOVE","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"eu-west-1","dynamodb":{"ApproximateCreationDateTime":1700000000,"Keys":{"pk":{"S":"a"}},"OldImage":{"n":{"N":"1"}},"SequenceNumber":"000000000000000000008","SizeBytes":5,"StreamViewType":"OLD_IMAGE"},"userIdentity":{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}}],"NextShardIterator":"j"}"#,
    );
}

#[test]
fn errors_carry_their_type_text_and_detail() {
    check_error(&request::unknown_operation(), r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#);
    check_error(
        &request::structure_not_expected(),
        r#"{"__type":"com.amazon.coral.service#SerializationException","Message":"Start of structure or map found where not expected"}"#,
    );
    check_error(
        &request::empty_attribute_name(),
        r#"{"__type":"com.amazon.coral.validate#ValidationException","message":"Empty attribute name"}"#,
    );
    check_error(
        &item::condition_failed(Some(an_item("n", 1))),
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","Item":{"n":{"N":"1"}},"message":"The conditional request failed"}"#,
    );
    let cause =
        CancellationCause { code: "ConditionalCheckFailed", message: "The conditional request failed".to_owned() };
    let failed = CancellationReason { cause: Some(cause), item: Some(an_item("n", 1)) };
    check_error(
        &transaction::cancelled(vec![CancellationReason::default(), failed]),
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","CancellationReasons":[{"Code":"None"},{"Code":"ConditionalCheckFailed","Item":{"n":{"N":"1"}},"Message":"The conditional request failed"}],"Message":"Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed]"}"#,
    );
}
