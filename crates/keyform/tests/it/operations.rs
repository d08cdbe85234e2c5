//! Every operation of the list is parsed, executed, answered and sent to remote stores under its own name. The matches
//! have no wildcard arm: a new operation does not compile until it has a line here.

use keyform::operation::{
    CreateTable, DescribeStream, GetShardIterator, PutItem, ShardPosition, UpdateContinuousBackups,
};
use keyform::server::{Server, ServerSettings};
use keyform::table::{KeySchema, ScalarType, StreamView};
use keyform::{Database, ErrorCode, Execute, Operation};
use keyform_core::operation::OperationKind;
use keyform_scenario::connect;
use keyform_wire::{Decoded, Echo, decode, encode, target};

/// Returns a valid request body, or `None` for an operation that the endpoint does not serve. Names in angle brackets
/// stand for values of the store.
fn body(kind: OperationKind) -> Option<&'static str> {
    Some(match kind {
        OperationKind::GetItem | OperationKind::DeleteItem | OperationKind::UpdateItem => {
            r#"{"TableName": "things", "Key": {"pk": {"S": "a"}}}"#
        }
        OperationKind::PutItem => r#"{"TableName": "things", "Item": {"pk": {"S": "a"}}}"#,
        OperationKind::Query => {
            r#"{"TableName": "things", "KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": {"S": "a"}}}"#
        }
        OperationKind::BatchGetItem => r#"{"RequestItems": {"things": {"Keys": [{"pk": {"S": "a"}}]}}}"#,
        OperationKind::BatchWriteItem => {
            r#"{"RequestItems": {"things": [{"PutRequest": {"Item": {"pk": {"S": "a"}}}}]}}"#
        }
        OperationKind::TransactWriteItems => {
            r#"{"TransactItems": [{"Put": {"TableName": "things", "Item": {"pk": {"S": "a"}}}}]}"#
        }
        OperationKind::TransactGetItems => {
            r#"{"TransactItems": [{"Get": {"TableName": "things", "Key": {"pk": {"S": "a"}}}}]}"#
        }
        OperationKind::ExecuteStatement => r#"{"Statement": "SELECT * FROM things"}"#,
        OperationKind::BatchExecuteStatement => {
            r#"{"Statements": [{"Statement": "SELECT * FROM things WHERE pk = 'a'"}]}"#
        }
        OperationKind::ExecuteTransaction => {
            r#"{"TransactStatements": [{"Statement": "SELECT * FROM things WHERE pk = 'a'"}]}"#
        }
        OperationKind::GetRecords => r#"{"ShardIterator": "<iterator>"}"#,
        OperationKind::GetShardIterator => {
            r#"{"StreamArn": "<stream>", "ShardId": "<shard>", "ShardIteratorType": "LATEST"}"#
        }
        OperationKind::DescribeStream => r#"{"StreamArn": "<stream>"}"#,
        OperationKind::ListStreams | OperationKind::ListTables | OperationKind::DescribeLimits => "{}",
        OperationKind::Scan
        | OperationKind::DescribeTable
        | OperationKind::DeleteTable
        | OperationKind::DescribeTimeToLive
        | OperationKind::DescribeContinuousBackups => r#"{"TableName": "things"}"#,
        OperationKind::CreateTable => {
            r#"{"TableName": "others", "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}"#
        }
        OperationKind::UpdateTable => r#"{"TableName": "things", "DeletionProtectionEnabled": false}"#,
        OperationKind::UpdateTimeToLive => {
            r#"{"TableName": "things", "TimeToLiveSpecification": {"AttributeName": "expires", "Enabled": true}}"#
        }
        OperationKind::TagResource => r#"{"ResourceArn": "<table>", "Tags": [{"Key": "team", "Value": "blue"}]}"#,
        OperationKind::UntagResource => r#"{"ResourceArn": "<table>", "TagKeys": ["team"]}"#,
        OperationKind::ListTagsOfResource => r#"{"ResourceArn": "<table>"}"#,
        OperationKind::UpdateContinuousBackups => return None,
    })
}

/// Returns whether [`keyform::aws`] sends the operation.
fn is_sent(kind: OperationKind) -> bool {
    !matches!(
        kind,
        OperationKind::ExecuteStatement
            | OperationKind::BatchExecuteStatement
            | OperationKind::ExecuteTransaction
            | OperationKind::DescribeLimits
    )
}

/// Returns all operations; DeleteTable, which ends the others, is last.
fn kinds() -> Vec<OperationKind> {
    let mut kinds = OperationKind::ALL.to_vec();
    kinds.sort_by_key(|kind| *kind == OperationKind::DeleteTable);
    kinds
}

/// Creates the table and returns the values of the names in angle brackets.
async fn fill(database: &Database) -> [(&'static str, String); 4] {
    let create = CreateTable {
        attributes: [("pk".to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec!["pk".to_owned()], sort: vec![] },
        stream: Some(StreamView::NewImage),
        ..CreateTable::named("things")
    };
    let table = database.call(create).await.unwrap();
    let put =
        PutItem { table: "things".to_owned(), item: [("pk".to_owned(), "a".into())].into(), ..PutItem::default() };
    database.call(put).await.unwrap();
    let stream = table.stream.unwrap().arn;
    let describe = DescribeStream { arn: stream.clone(), ..DescribeStream::default() };
    let shard = database.call(describe).await.unwrap().shards.remove(0).id;
    let position = ShardPosition::TrimHorizon;
    let get = GetShardIterator { arn: stream.clone(), shard: shard.clone(), position };
    let iterator = database.call(get).await.unwrap();
    [("<table>", table.arn), ("<stream>", stream), ("<shard>", shard), ("<iterator>", iterator)]
}

fn parsed(kind: OperationKind, values: &[(&str, String)]) -> (Operation, Echo) {
    let Some(body) = body(kind) else {
        let error = decode(&target(kind), b"{}").unwrap_err();
        assert_eq!(error.code(), ErrorCode::UnknownOperation, "{}", kind.name());
        let update = UpdateContinuousBackups { table: "things".to_owned(), recovery: false };
        return (update.into(), Echo::default());
    };
    let body = values.iter().fold(body.to_owned(), |body, (name, value)| body.replace(name, value));
    match decode(&target(kind), body.as_bytes()) {
        Ok(Decoded::Operation(request)) => (request.operation, request.echo),
        other => panic!("{}: {other:?}", kind.name()),
    }
}

#[tokio::test]
async fn every_operation_is_parsed_executed_and_answered_under_its_own_name() {
    let database = Database::in_memory();
    let values = fill(&database).await;
    for kind in kinds() {
        let (operation, echo) = parsed(kind, &values);
        assert_eq!(operation.kind(), kind);
        let output = database.execute(operation).await.unwrap();
        assert_eq!(output.kind(), kind);
        let mut answer = Vec::new();
        encode(&echo, &output, &mut answer);
        assert!(answer.starts_with(b"{") && answer.ends_with(b"}"), "{}", kind.name());
    }
}

#[tokio::test]
async fn every_operation_is_sent_to_a_remote_store_or_refused_by_name() {
    let database = Database::in_memory();
    let values = fill(&database).await;
    let server = Server::bind(ServerSettings { port: 0, ..ServerSettings::default() }).unwrap();
    let running = keyform::serve(server, &database).unwrap();
    let remote = connect(running.url()).await;
    for kind in kinds() {
        let (operation, _) = parsed(kind, &values);
        match remote.execute(operation).await {
            Ok(output) => assert_eq!((output.kind(), is_sent(kind)), (kind, true)),
            Err(error) => {
                // Our own endpoint does not serve UpdateContinuousBackups; DynamoDB does.
                let expected = if is_sent(kind) { "" } else { kind.name() };
                assert_eq!(error.code(), ErrorCode::UnknownOperation, "{error}");
                assert!(error.message().starts_with(expected), "{error}");
                assert!(!is_sent(kind) || body(kind).is_none(), "{error}");
            }
        }
    }
    running.stop();
}
