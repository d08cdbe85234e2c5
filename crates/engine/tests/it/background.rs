//! Background work starts when there is some, stops with the database, and reports failures.

use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use crate::support::{TABLE, World, global_index, item, open_store, simple_table};
use keyform_core::Operation;
use keyform_core::operation::{DescribeTable, GlobalIndexChange, TransactAction, TransactWriteItems, UpdateTable};
use keyform_core::table::{ScalarType, Status};
use keyform_engine::store::{DataKeys, SimDisk, Store, StoreOptions};
use keyform_engine::{Database, Options, system_key};

fn create_index() -> Operation {
    Operation::UpdateTable(UpdateTable {
        table: TABLE.to_owned(),
        attributes: [("g".to_owned(), ScalarType::S)].into(),
        indexes: vec![GlobalIndexChange::Create(global_index("index", "g"))],
        ..UpdateTable::default()
    })
}

fn index_status(database: &Database) -> Status {
    database.call_blocking(DescribeTable { table: TABLE.to_owned() }).unwrap().global_indexes[0].status
}

#[test]
fn the_thread_fills_a_new_index_as_soon_as_there_is_one() {
    let options = Options { sweep_interval: Some(Duration::from_secs(3600)), ..Options::default() };
    let database = Database::in_memory_with(options);
    database.call_blocking(simple_table()).unwrap();
    database.execute_blocking(create_index()).unwrap();
    while index_status(&database) != Status::Active {
        std::thread::yield_now();
    }
    database.close().unwrap();
}

#[test]
fn a_failing_disk_ends_background_work_with_an_error() {
    let disk = SimDisk::new();
    let keys = Some(DataKeys::new(1, [7; 32]));
    let store = Store::open(Arc::new(disk.clone()), keys, StoreOptions::default()).unwrap();
    let database = Database::on(store, Options { sweep_interval: None, ..Options::default() }).unwrap();
    database.call_blocking(simple_table()).unwrap();
    database.execute_blocking(create_index()).unwrap();
    disk.fail_at(disk.operations() + 1);
    assert!(database.sweep().is_err());
    assert!(database.health().is_err());
    let described = database.call_blocking(DescribeTable { table: TABLE.to_owned() });
    assert!(described.is_err(), "what a power cut could revert is not reported");
    assert!(database.close().is_err());
}

#[test]
fn tokens_are_forgotten_when_their_time_is_over() {
    let world = World::on_disk();
    world.create(simple_table());
    for token in ["first", "second"] {
        let put = TransactAction::Put {
            table: TABLE.to_owned(),
            item: item([("pk", token.into())]),
            condition: None,
            return_item_on_failure: false,
        };
        let request =
            TransactWriteItems { actions: vec![put], token: Some(token.to_owned()), ..TransactWriteItems::default() };
        world.run(request).unwrap();
        world.env.advance_ms(300_000);
    }
    world.sweep();
    world.database.close().unwrap();
    let store = open_store(world.disk());
    let (from, to) = (system_key(b't', b""), system_key(b'u', b""));
    let tokens = store.snapshot().range(Bound::Included(&from), Bound::Excluded(&to));
    let tokens: Vec<Vec<u8>> = tokens.map(|entry| entry.unwrap().0[2..].to_vec()).collect();
    assert_eq!(tokens, [b"second".to_vec()]);
}
