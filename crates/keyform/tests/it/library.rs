//! The library from threads, from async code without a runtime, and after closing.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use keyform::operation::{CreateTable, GetItem, PutItem};
use keyform::table::{BillingMode, KeySchema, ScalarType};
use keyform::{Attributes, Database, Encryption, Options};

const THREADS: usize = 4;
const ITEMS: usize = 50;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread with the standard library only.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Opens an encrypted database, with the test's own master key beside the data.
fn on_disk(folder: &Path) -> Database {
    let options = Options { encryption: Encryption::KeyFile(folder.join("master.key")), ..Options::default() };
    Database::open_with(folder.join("data"), options).expect("no other process uses the folder")
}

fn create() -> CreateTable {
    CreateTable {
        attributes: [("pk".to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec!["pk".to_owned()], sort: vec![] },
        billing: BillingMode::PayPerRequest,
        ..CreateTable::named("users")
    }
}

fn put(key: String) -> PutItem {
    let item: Attributes = [("pk".to_owned(), key.as_str().into())].into();
    PutItem { table: "users".to_owned(), item, ..Default::default() }
}

fn is_there(database: &Database, key: &str) -> bool {
    let key: Attributes = [("pk".to_owned(), key.into())].into();
    let get = GetItem { table: "users".to_owned(), key, ..Default::default() };
    database.call_blocking(get).expect("the table is there").item.is_some()
}

fn count(database: &Database) -> usize {
    let keys = (0..THREADS).flat_map(|number| (0..ITEMS).map(move |item| format!("{number}-{item}")));
    keys.filter(|key| is_there(database, key)).count()
}

/// Writes from several threads: half of them block, the others poll futures.
fn write_from_threads(database: &Database) {
    thread::scope(|scope| {
        for number in 0..THREADS {
            scope.spawn(move || {
                for item in 0..ITEMS {
                    let put = put(format!("{number}-{item}"));
                    let outcome = match number % 2 {
                        0 => database.call_blocking(put),
                        _ => block_on(database.call(put)),
                    };
                    outcome.expect("the put is accepted");
                }
            });
        }
    });
}

#[test]
fn threads_and_async_code_without_a_runtime_share_a_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = on_disk(folder.path());
    database.call_blocking(create()).expect("the table is made");
    write_from_threads(&database);
    assert_eq!(count(&database), THREADS * ITEMS);
    database.close().expect("nothing failed");
    let again = on_disk(folder.path());
    assert_eq!(count(&again), THREADS * ITEMS);
}

#[test]
fn operations_after_the_close_are_refused_in_words() {
    let folder = tempfile::tempdir().expect("a folder");
    for database in [Database::in_memory(), on_disk(folder.path())] {
        database.call_blocking(create()).expect("the table is made");
        database.close().expect("nothing failed");
        database.close().expect("a second close does nothing");
        let refused = database.call_blocking(put("late".to_owned())).expect_err("the database is closed");
        assert!(refused.message().contains("closed"), "{refused}");
        let refused = block_on(database.call(put("late".to_owned()))).expect_err("the database is closed");
        assert!(refused.message().contains("closed"), "{refused}");
    }
}
