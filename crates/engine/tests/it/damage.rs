//! Flips a byte anywhere in any file: every operation returns the right result or an error, and the rest of the
//! database keeps working.

use std::sync::Arc;

use crate::support::{START_MS, TABLE, global_index, item, simple_table};
use keyform_core::capacity::ReturnConsumedCapacity;
use keyform_core::expression::{Comparator, KeyCondition, KeyPredicate, KeyTest};
use keyform_core::operation::{
    BatchGetItem, BatchGetRequest, BatchWriteItem, DeleteItem, DescribeStream, DescribeTable, GetItem, GetRecords,
    GetShardIterator, GlobalIndexChange, PutItem, Query, Scan, ShardPosition, TimeToLive, TransactAction, TransactGet,
    TransactGetItems, TransactWriteItems, UpdateItem, UpdateTable, UpdateTimeToLive, WriteRequest,
};
use keyform_core::table::{ScalarType, StreamView};
use keyform_core::value::Value;
use keyform_core::{AttributeValue, Attributes, Error, ErrorCode, Operation};
use keyform_engine::store::{DataKeys, Scarce, SimDisk, Store, StoreError, StoreOptions};
use keyform_engine::{Database, OpenError, Options};
use keyform_world::testing::ManualWorld;

const ITEMS: u64 = 40;

fn open(disk: &SimDisk, env: &ManualWorld) -> Result<Database, OpenError> {
    let options = StoreOptions {
        block_bytes: 400,
        table_bytes: 6000,
        level0_files: 2,
        level1_bytes: 9000,
        journal_reserve_bytes: 0,
        ..StoreOptions::default()
    };
    let store = Store::open(Arc::new(disk.clone()), Some(DataKeys::new(1, [7; 32])), options)?;
    Database::on(store, Options { world: Arc::new(env.clone()), sweep_interval: None, ..Options::default() })
}

fn thing(number: u64) -> Attributes {
    let ends = START_MS / 1000 + if number.is_multiple_of(5) { 5 } else { 100_000 };
    item([
        ("pk", format!("thing {number}").as_str().into()),
        ("g", format!("group {}", number % 3).as_str().into()),
        ("text", format!("{number} ").repeat(30).as_str().into()),
        ("ends", i64::try_from(ends).unwrap().into()),
    ])
}

fn key(number: u64) -> Attributes {
    item([("pk", format!("thing {number}").as_str().into())])
}

fn put(number: u64) -> Operation {
    Operation::PutItem(PutItem { table: TABLE.to_owned(), item: thing(number), ..PutItem::default() })
}

/// Creates a database with an index, a stream and expiry entries, most of it in tables, the rest in the journal.
fn whole(env: &ManualWorld) -> SimDisk {
    let disk = SimDisk::new();
    let database = open(&disk, env).unwrap();
    let mut create = simple_table();
    create.attributes.insert("g".to_owned(), ScalarType::S);
    create.global_indexes = vec![global_index("index", "g")];
    create.stream = Some(StreamView::NewAndOldImages);
    database.call_blocking(create).unwrap();
    let setting = TimeToLive { attribute: "ends".to_owned(), enabled: true };
    let expire = UpdateTimeToLive { table: TABLE.to_owned(), setting };
    database.call_blocking(expire).unwrap();
    for number in 0..ITEMS {
        database.execute_blocking(put(number)).unwrap();
    }
    database.sweep().unwrap();
    database.compact().unwrap();
    for number in ITEMS..ITEMS + 5 {
        database.execute_blocking(put(number)).unwrap();
    }
    database.close().unwrap();
    disk
}

fn query(reverse: bool) -> Operation {
    let test = KeyTest::Compare(Comparator::Equal, Value::from(AttributeValue::from("group 1")));
    Operation::Query(Query {
        table: TABLE.to_owned(),
        index: Some("index".to_owned()),
        key: KeyCondition { predicates: vec![KeyPredicate { attribute: "g".to_owned(), test }] },
        filter: None,
        projection: None,
        select: None,
        limit: None,
        consistent: false,
        reverse,
        start: None,
        return_capacity: ReturnConsumedCapacity::None,
    })
}

fn reads() -> Vec<Operation> {
    let table = || TABLE.to_owned();
    let mut reads: Vec<Operation> = (0..ITEMS)
        .map(|number| Operation::GetItem(GetItem { table: table(), key: key(number), ..GetItem::default() }))
        .collect();
    reads.extend([true, false].map(query));
    reads.push(Operation::Scan(Scan::of(TABLE)));
    reads.push(Operation::Scan(Scan { index: Some("index".to_owned()), ..Scan::of(TABLE) }));
    let gets = BatchGetRequest { keys: (0..ITEMS).map(key).collect(), ..BatchGetRequest::default() };
    reads.push(Operation::BatchGetItem(BatchGetItem { tables: vec![(table(), gets)], ..BatchGetItem::default() }));
    let gets = (0..8).map(|number| TransactGet { table: table(), key: key(number), projection: None }).collect();
    reads.push(Operation::TransactGetItems(TransactGetItems { gets, ..TransactGetItems::default() }));
    reads
}

/// Returns writes to distinct items.
fn writes() -> Vec<Operation> {
    let table = || TABLE.to_owned();
    let put_of = |number| TransactAction::Put {
        table: table(),
        item: thing(number),
        condition: None,
        return_item_on_failure: false,
    };
    let mut writes: Vec<Operation> = (0..6).map(put).collect();
    for number in 6..10 {
        writes.push(Operation::DeleteItem(DeleteItem { table: table(), key: key(number), ..DeleteItem::default() }));
    }
    for number in 10..14 {
        writes.push(Operation::UpdateItem(UpdateItem { table: table(), key: key(number), ..UpdateItem::default() }));
    }
    let batch = (14..20).map(|number| WriteRequest::Put(thing(number))).collect();
    writes.push(Operation::BatchWriteItem(BatchWriteItem {
        tables: vec![(table(), batch)],
        ..BatchWriteItem::default()
    }));
    let actions = (20..26).map(put_of).collect();
    let token = Some("token".to_owned());
    writes.push(Operation::TransactWriteItems(TransactWriteItems { actions, token, ..TransactWriteItems::default() }));
    writes
}

/// Returns all records of the stream.
fn records(database: &Database) -> Result<String, Error> {
    let described = database.call_blocking(DescribeTable { table: TABLE.to_owned() })?;
    let arn = described.stream.unwrap().arn;
    let describe = DescribeStream { arn: arn.clone(), ..DescribeStream::default() };
    let stream = database.call_blocking(describe)?;
    let mut all = Vec::new();
    for shard in stream.shards {
        let request =
            GetShardIterator { arn: arn.clone(), shard: shard.id.clone(), position: ShardPosition::TrimHorizon };
        let iterator = database.call_blocking(request)?;
        let request = GetRecords { iterator, limit: None };
        let output = database.call_blocking(request)?;
        all.extend(output.records);
    }
    Ok(format!("{all:?}"))
}

/// Returns the results of all operations, in order.
fn answers(database: &Database, env: &ManualWorld) -> Vec<Result<String, Error>> {
    let ask = |operation: Operation| database.execute_blocking(operation).map(|output| format!("{output:?}"));
    let mut answers: Vec<_> = reads().into_iter().map(ask).collect();
    answers.push(records(database));
    answers.extend(writes().into_iter().map(ask));
    // The pass must end. Errors of its tasks are expected.
    drop(database.sweep());
    env.advance_ms(10_000);
    let index = UpdateTable {
        table: TABLE.to_owned(),
        attributes: [("text".to_owned(), ScalarType::S)].into(),
        indexes: vec![GlobalIndexChange::Create(global_index("second", "text"))],
        ..UpdateTable::default()
    };
    drop(ask(Operation::UpdateTable(index)));
    drop(database.sweep());
    drop(database.compact());
    drop(database.close());
    answers
}

#[test]
fn a_flipped_byte_costs_the_requests_that_need_it_and_no_other() {
    let made = ManualWorld::at_ms(START_MS);
    let disk = whole(&made);
    let env = ManualWorld::at_ms(START_MS);
    let expected = answers(&open(&disk.duplicate(), &env).unwrap(), &env);
    assert!(expected.iter().all(Result::is_ok), "{expected:?}");
    let (mut refused, mut opened, mut failed, mut right) = (0, 0, 0, 0);
    for name in disk.names() {
        for byte in (0..disk.content(&name).unwrap().len()).step_by(53) {
            let damaged = disk.duplicate();
            assert!(damaged.flip_bit(&name, byte * 8 + byte % 8));
            let env = ManualWorld::at_ms(START_MS);
            let Ok(database) = open(&damaged, &env) else {
                refused += 1;
                continue;
            };
            opened += 1;
            for (answer, expected) in answers(&database, &env).into_iter().zip(&expected) {
                match answer {
                    Ok(answer) => {
                        right += 1;
                        assert_eq!(Some(&answer), expected.as_ref().ok(), "byte {byte} of {name}");
                    }
                    Err(error) => {
                        failed += 1;
                        assert_eq!(error.code(), ErrorCode::InternalServer, "byte {byte} of {name}: {error}");
                    }
                }
            }
        }
    }
    assert!(refused > 0 && opened > 0 && failed > 0 && right > failed, "{refused} {opened} {failed} {right}");
}

#[test]
fn a_damaged_catalog_is_named() {
    let env = ManualWorld::at_ms(START_MS);
    let disk = whole(&env);
    let tables: Vec<String> = disk.names().into_iter().filter(|name| name.ends_with(".table")).collect();
    for name in &tables {
        let bytes = disk.content(name).unwrap();
        disk.tamper(name, bytes.iter().enumerate().map(|(at, byte)| if at > 90 { !byte } else { *byte }).collect());
    }
    let Err(error) = open(&disk, &env) else { panic!("opened") };
    assert!(tables.iter().any(|name| error.to_string().contains(name)), "{error}");
}

#[test]
fn without_descriptors_opening_fails_at_once_and_succeeds_later() {
    let env = ManualWorld::at_ms(START_MS);
    let disk = whole(&env);
    disk.starve_at(0, Scarce::Descriptors);
    let Err(error) = open(&disk, &env) else { panic!("opened") };
    assert!(error.to_string().contains("os error 24"), "{error}");
    disk.heal();
    assert!(open(&disk, &env).is_ok());
}

#[test]
fn a_table_that_is_gone_is_named() {
    let env = ManualWorld::at_ms(START_MS);
    let disk = whole(&env);
    for name in disk.names().into_iter().filter(|name| name.ends_with(".table")) {
        let damaged = disk.duplicate();
        keyform_engine::store::Disk::remove(&damaged, &name).unwrap();
        match open(&damaged, &env) {
            Err(OpenError::Store(StoreError::Missing { file, .. })) => assert_eq!(file, name),
            other => panic!("{other:?}"),
        }
    }
}
