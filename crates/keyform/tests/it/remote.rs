//! Operations sent to our server through the AWS SDK return the same as the database itself: outputs, errors and their
//! details.

use std::time::Duration;

use keyform::aws::{Credentials, Options, Remote, Timeouts};
use keyform::capacity::ReturnConsumedCapacity;
use keyform::error::Detail;
use keyform::expression::{
    Comparator, Condition, KeyCondition, KeyPredicate, KeyTest, Operand, Path, Projection, SetAction, SetValue, Update,
    UpdateOperand,
};
use keyform::operation::{
    BatchGetItem, BatchGetRequest, BatchWriteItem, CreateTable, DeleteItem, DeleteTable, DescribeLimits, DescribeTable,
    DescribeTimeToLive, GetItem, GetRecords, GlobalIndexChange, ListTables, PutItem, Query, ReturnValues, Scan,
    Segment, Select, StreamChange, TimeToLive, TransactAction, TransactGet, TransactGetItems, TransactWriteItems,
    UpdateItem, UpdateTable, UpdateTimeToLive, WriteOptions, WriteRequest,
};
use keyform::server::{Server, ServerSettings};
use keyform::table::{GlobalIndex, KeySchema, LocalIndex, ScalarType, Status, StreamView};
use keyform::value::Value;
use keyform::{AttributeValue, Attributes, Database, Error, ErrorCode, Execute, ExecuteExt, Operation, Output};
use keyform_scenario::connect;

const TABLE: &str = "things";

/// Runs the operations on an embedded database and on a served one, and compares each answer.
async fn same_answers(operations: Vec<Operation>) -> Vec<Result<Output, Error>> {
    let embedded = Database::in_memory();
    let served = Database::in_memory();
    let server = Server::bind(ServerSettings { port: 0, ..ServerSettings::default() }).unwrap();
    let running = keyform::serve(server, &served).unwrap();
    let remote = connect(running.url()).await;
    let mut answers = Vec::new();
    for operation in std::iter::once(create_table()).chain(operations) {
        let expected = Execute::execute(&embedded, operation.clone()).await;
        let answer = remote.execute(operation.clone()).await;
        assert_eq!(comparable(answer.clone()), comparable(expected), "{operation:?}");
        answers.push(answer);
    }
    remote.wait_until_active(TABLE, Duration::from_secs(10)).await.unwrap();
    running.stop();
    answers.split_off(1)
}

/// Removes the id and the times of a table, which differ between databases.
fn comparable(answer: Result<Output, Error>) -> Result<Output, Error> {
    answer.map(|mut output| {
        if let Output::CreateTable(table)
        | Output::DescribeTable(table)
        | Output::UpdateTable(table)
        | Output::DeleteTable(table) = &mut output
        {
            table.id.clear();
            table.created_ms = 0;
            table.on_demand_since_ms = None;
            if let Some(stream) = &mut table.stream {
                stream.label.clear();
                stream.arn.clear();
                // The service does not return the view of a disabled stream.
                stream.view = if stream.enabled { stream.view } else { StreamView::KeysOnly };
            }
        }
        output
    })
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn create_table() -> Operation {
    let key = |partition: &str, sort: &str| KeySchema { partition: names(&[partition]), sort: names(&[sort]) };
    Operation::CreateTable(CreateTable {
        attributes: [("pk", ScalarType::S), ("sk", ScalarType::N), ("kind", ScalarType::S), ("at", ScalarType::N)]
            .into_iter()
            .map(|(name, kind)| (name.to_owned(), kind))
            .collect(),
        key: key("pk", "sk"),
        global_indexes: vec![GlobalIndex {
            name: "by-kind".to_owned(),
            key: key("kind", "sk"),
            projection: keyform::table::Projection::Include(names(&["title"])),
            throughput: None,
            on_demand: None,
            warm: None,
        }],
        local_indexes: vec![LocalIndex {
            name: "by-time".to_owned(),
            key: key("pk", "at"),
            projection: keyform::table::Projection::KeysOnly,
        }],
        stream: Some(StreamView::NewAndOldImages),
        ..CreateTable::named(TABLE)
    })
}

fn key(sort: i64) -> Attributes {
    [("pk".to_owned(), "one".into()), ("sk".to_owned(), sort.into())].into()
}

fn thing(sort: i64) -> Attributes {
    let mut item = key(sort);
    item.insert("kind".to_owned(), "thing".into());
    item.insert("at".to_owned(), (100 - sort).into());
    item.insert("title".to_owned(), AttributeValue::S(format!("number {sort}")));
    item.insert("exact".to_owned(), AttributeValue::N("1234567890123456789012345678901234567.8".parse().unwrap()));
    item.insert("set".to_owned(), AttributeValue::Ns([1.into(), 2.into()].into()));
    item.insert(
        "nested".to_owned(),
        AttributeValue::L(vec![AttributeValue::Null, true.into(), AttributeValue::B(vec![0, 255])]),
    );
    item
}

fn put(item: Attributes) -> Operation {
    Operation::PutItem(PutItem { table: TABLE.to_owned(), item, ..PutItem::default() })
}

fn things() -> Vec<Operation> {
    (1..=5).map(|sort| put(thing(sort))).collect()
}

fn absent() -> Condition {
    Condition::AttributeNotExists(Path::attribute("pk"))
}

fn constant(value: impl Into<AttributeValue>) -> Value {
    Value::from(value.into())
}

fn compare(name: &str, comparator: Comparator, value: i64) -> Condition {
    let left = Operand::Path(Path::attribute(name));
    Condition::Compare { left, comparator, right: Operand::Value(constant(value)) }
}

fn title(text: &str) -> Update {
    let value = SetValue::Operand(UpdateOperand::Value(constant(text)));
    Update { set: vec![SetAction { path: Path::attribute("title"), value }], ..Update::default() }
}

#[tokio::test]
async fn single_items_are_written_and_read() {
    let table = TABLE.to_owned();
    let update = Update {
        remove: vec![Path::attribute("at")],
        add: vec![(Path::attribute("count"), constant(3))],
        delete: vec![(Path::attribute("set"), Value::from(AttributeValue::Ns([1.into()].into())))],
        ..title("changed")
    };
    let mut operations = things();
    operations.extend([
        Operation::PutItem(PutItem {
            table: table.clone(),
            item: thing(1),
            options: WriteOptions {
                return_values: ReturnValues::AllOld,
                return_capacity: ReturnConsumedCapacity::Indexes,
                ..WriteOptions::default()
            },
        }),
        Operation::UpdateItem(UpdateItem {
            table: table.clone(),
            key: key(2),
            update: Some(update),
            options: WriteOptions {
                return_values: ReturnValues::UpdatedNew,
                ..compare("sk", Comparator::Equal, 2).into()
            },
        }),
        Operation::UpdateItem(UpdateItem { table: table.clone(), key: key(9), ..UpdateItem::default() }),
        Operation::GetItem(GetItem {
            table: table.clone(),
            key: key(2),
            projection: Some(Projection { paths: vec![Path::attribute("title"), Path::attribute("exact")] }),
            consistent: true,
            return_capacity: ReturnConsumedCapacity::Total,
        }),
        Operation::GetItem(GetItem { table: table.clone(), key: key(77), ..GetItem::default() }),
        Operation::DeleteItem(DeleteItem {
            table,
            key: key(3),
            options: WriteOptions { return_values: ReturnValues::AllOld, ..WriteOptions::default() },
        }),
    ]);
    same_answers(operations).await;
}

#[tokio::test]
async fn a_failed_condition_carries_the_item() {
    let guarded = |return_item_on_failure| {
        Operation::PutItem(PutItem {
            table: TABLE.to_owned(),
            item: thing(1),
            options: WriteOptions { return_item_on_failure, ..absent().into() },
        })
    };
    let answers = same_answers(vec![put(thing(1)), guarded(true), guarded(false)]).await;
    let error = answers[1].clone().unwrap_err();
    assert_eq!(error.code(), ErrorCode::ConditionalCheckFailed);
    assert!(matches!(error.detail(), Detail::Item(item) if item.to_attributes() == thing(1)));
    assert_eq!(answers[2].clone().unwrap_err().detail(), &Detail::None);
}

fn query(index: Option<&str>, partition: &str, value: &str) -> Query {
    let predicate =
        KeyPredicate { attribute: partition.to_owned(), test: KeyTest::Compare(Comparator::Equal, constant(value)) };
    Query {
        table: TABLE.to_owned(),
        index: index.map(str::to_owned),
        key: KeyCondition { predicates: vec![predicate] },
        filter: None,
        projection: None,
        select: None,
        limit: None,
        consistent: false,
        reverse: false,
        start: None,
        return_capacity: ReturnConsumedCapacity::Indexes,
    }
}

#[tokio::test]
async fn pages_are_read() {
    let between = KeyPredicate { attribute: "sk".to_owned(), test: KeyTest::Between(constant(2), constant(4)) };
    let mut part = query(None, "pk", "one");
    part.key.predicates.push(between);
    let scan = |segment, select| {
        Operation::Scan(Scan {
            filter: Some(compare("sk", Comparator::Greater, 3)),
            select,
            consistent: true,
            segment,
            return_capacity: ReturnConsumedCapacity::None,
            ..Scan::of(TABLE)
        })
    };
    let mut operations = things();
    operations.extend([
        Operation::Query(part.clone()),
        Operation::Query(Query { limit: Some(2), reverse: true, ..query(None, "pk", "one") }),
        Operation::Query(Query { start: Some(key(2)), limit: Some(2), ..query(None, "pk", "one") }),
        Operation::Query(Query {
            filter: Some(compare("sk", Comparator::Less, 4)),
            ..query(Some("by-kind"), "kind", "thing")
        }),
        Operation::Query(Query { select: Some(Select::Count), ..query(Some("by-time"), "pk", "one") }),
        Operation::Query(query(None, "pk", "nobody")),
        scan(None, None),
        scan(None, Some(Select::Count)),
        scan(Some(Segment { number: 1, total: 3 }), None),
    ]);
    same_answers(operations).await;
}

#[tokio::test]
async fn batches_are_written_and_read() {
    let write = BatchWriteItem {
        tables: vec![(
            TABLE.to_owned(),
            vec![WriteRequest::Put(thing(1)), WriteRequest::Put(thing(2)), WriteRequest::Delete(key(3))],
        )],
        return_capacity: ReturnConsumedCapacity::Total,
        ..BatchWriteItem::default()
    };
    // The answers of a batch have no order, so only one item is found.
    let keys = vec![key(2), key(3)];
    let read = BatchGetRequest { keys, projection: None, consistent: true };
    let get = BatchGetItem { tables: vec![(TABLE.to_owned(), read)], ..BatchGetItem::default() };
    same_answers(vec![put(thing(3)), Operation::BatchWriteItem(write), Operation::BatchGetItem(get)]).await;
}

#[tokio::test]
async fn a_cancelled_transaction_tells_each_reason() {
    let table = || TABLE.to_owned();
    let transaction = |actions: Vec<TransactAction>| {
        Operation::TransactWriteItems(TransactWriteItems { actions, ..TransactWriteItems::default() })
    };
    let update = |sort, condition| TransactAction::Update {
        table: table(),
        key: key(sort),
        update: title("both"),
        condition,
        return_item_on_failure: true,
    };
    let check =
        |condition| TransactAction::Check { table: table(), key: key(5), condition, return_item_on_failure: true };
    let replace =
        TransactAction::Put { table: table(), item: thing(2), condition: Some(absent()), return_item_on_failure: true };
    let remove = TransactAction::Delete { table: table(), key: key(3), condition: None, return_item_on_failure: false };
    let get = |sort| TransactGet { table: table(), key: key(sort), projection: None };
    let mut operations = things();
    operations.extend([
        transaction(vec![update(1, None), replace, check(absent())]),
        transaction(vec![
            update(1, Some(compare("sk", Comparator::Equal, 1))),
            remove,
            check(compare("sk", Comparator::Equal, 5)),
        ]),
        Operation::TransactGetItems(TransactGetItems { gets: vec![get(1), get(3)], ..TransactGetItems::default() }),
    ]);
    let answers = same_answers(operations).await;
    let cancelled = answers[5].clone().unwrap_err();
    let Detail::Cancellation(reasons) = cancelled.detail() else { panic!("{cancelled:?}") };
    assert_eq!(reasons[0].cause, None);
    assert!(reasons[1].item.as_ref().is_some_and(|item| item.to_attributes() == thing(2)));
    assert_eq!(reasons[2].cause.as_ref().map(|cause| cause.code), Some("ConditionalCheckFailed"));
    assert!(answers[6].is_ok() && answers[7].is_ok());
}

#[tokio::test]
async fn tables_are_described_listed_and_removed() {
    let table = || TABLE.to_owned();
    let setting = TimeToLive { attribute: "expires".to_owned(), enabled: true };
    let answers = same_answers(vec![
        Operation::DescribeTable(DescribeTable { table: table() }),
        Operation::UpdateTimeToLive(UpdateTimeToLive { table: table(), setting }),
        Operation::DescribeTimeToLive(DescribeTimeToLive { table: table() }),
        Operation::ListTables(ListTables::default()),
        create_table(),
        Operation::DeleteTable(DeleteTable { table: "nothing".to_owned() }),
        Operation::GetItem(GetItem { table: "nothing".to_owned(), key: key(1), ..GetItem::default() }),
        Operation::GetItem(GetItem { table: table(), ..GetItem::default() }),
    ])
    .await;
    assert!(matches!(&answers[0], Ok(Output::DescribeTable(table)) if table.status == Status::Active));
    let codes: Vec<ErrorCode> = answers[4..].iter().map(|answer| answer.clone().unwrap_err().code()).collect();
    let missing = ErrorCode::ResourceNotFound;
    assert_eq!(codes, [ErrorCode::ResourceInUse, missing, missing, ErrorCode::Validation]);
}

#[tokio::test]
async fn tables_are_changed() {
    let change = |update: UpdateTable| Operation::UpdateTable(UpdateTable { table: TABLE.to_owned(), ..update });
    let index = GlobalIndex {
        name: "by-title".to_owned(),
        key: KeySchema { partition: names(&["title"]), sort: vec![] },
        projection: keyform::table::Projection::All,
        throughput: None,
        on_demand: None,
        warm: None,
    };
    let answers = same_answers(vec![
        change(UpdateTable {
            indexes: vec![GlobalIndexChange::Delete { name: "nothing".to_owned() }],
            ..UpdateTable::default()
        }),
        change(UpdateTable { stream: Some(StreamChange::Disable), ..UpdateTable::default() }),
        change(UpdateTable {
            attributes: [("title".to_owned(), ScalarType::S)].into(),
            indexes: vec![GlobalIndexChange::Create(index)],
            deletion_protected: Some(true),
            ..UpdateTable::default()
        }),
    ])
    .await;
    assert!(
        matches!(&answers[2], Ok(Output::UpdateTable(table)) if table.deletion_protected && table.global_indexes.len() == 2)
    );
}

#[tokio::test]
async fn what_is_not_sent_and_who_does_not_answer_is_said() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let remote = connect(url).await;
    let refused = remote.call(DescribeLimits).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::UnknownOperation);
    assert!(refused.message().starts_with("DescribeLimits is not sent"), "{refused}");
    let unheard = remote.call(ListTables::default()).await.unwrap_err();
    assert_eq!(unheard.code(), ErrorCode::InternalServer);
    assert!(unheard.message().starts_with("the store did not answer"), "{unheard}");
}

/// Store that accepts connections and never answers.
async fn frozen() -> (Remote, std::net::TcpListener) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let time = Duration::from_millis(200);
    let options = Options {
        endpoint_url: Some(format!("http://{}", listener.local_addr().unwrap())),
        credentials: Some(Credentials { access_key_id: "id".to_owned(), secret_access_key: "secret".to_owned() }),
        timeouts: Timeouts { connect: time, request: time, deadline: 2 * time },
        ..Options::default()
    };
    (Remote::connect(options).await.unwrap(), listener)
}

#[tokio::test]
async fn requests_to_a_frozen_store_end_and_writes_are_unknown() {
    let (remote, _listener) = frozen().await;
    let put = PutItem { table: "T".to_owned(), item: thing(1), ..Default::default() };
    let batch =
        BatchWriteItem { tables: vec![("T".to_owned(), vec![WriteRequest::Put(thing(1))])], ..Default::default() };
    let records = GetRecords { iterator: "iterator".to_owned(), limit: None };
    for (operation, detail) in [
        (Operation::ListTables(ListTables::default()), Detail::NoAnswer),
        (Operation::GetRecords(records), Detail::NoAnswer),
        (Operation::PutItem(put), Detail::OutcomeUnknown),
        (Operation::BatchWriteItem(batch), Detail::OutcomeUnknown),
    ] {
        let error = remote.execute(operation.clone()).await.unwrap_err();
        assert_eq!(error.detail(), &detail, "{operation:?}: {error}");
    }
}
