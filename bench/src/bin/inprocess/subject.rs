//! The measured calls, which any engine must answer, and their implementation for our engine.

use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use keyform::expression::{Substitutions, parse_key_condition, parse_update};
use keyform::operation::{CreateTable, GetItem, PutItem, Query, UpdateItem};
use keyform::table::{KeySchema, ScalarType};
use keyform::{AttributeValue, Attributes, Database, Encryption, Error, Operation, Options, Output};

/// Number of large items.
pub const ITEMS: usize = 10_000;
/// Number of partitions of small items.
pub const PARTITIONS: usize = 50;
/// Number of small items in a partition.
pub const PARTITION_ITEMS: usize = 100;

/// One kind of call.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    Put,
    Get,
    Query,
    AddHot,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Put => "put 1 KB",
            Self::Get => "get 1 KB",
            Self::Query => "query of 50",
            Self::AddHot => "ADD, one hot item",
        })
    }
}

/// An engine that can be called from several threads.
pub trait Subject: Sync {
    /// Writes a large item.
    fn put(&self, number: usize);
    /// Writes a small item.
    fn put_small(&self, partition: usize, sort: usize);
    /// Reads a large item.
    fn get(&self, number: usize);
    /// Reads the newest fifty of a partition.
    fn query(&self, partition: usize);
    /// Adds one to the hot item.
    fn add_hot(&self);

    /// Performs one call of the kind, with a varying number.
    fn call(&self, call: Call, number: usize) {
        match call {
            Call::Put => self.put(number % ITEMS),
            Call::Get => self.get(number % ITEMS),
            Call::Query => self.query(number % PARTITIONS),
            Call::AddHot => self.add_hot(),
        }
    }
}

/// Our engine.
pub struct Keyform {
    database: Database,
}

impl Keyform {
    /// Opens it in a folder, synced and encrypted, or in memory, and loads it.
    pub fn open(folder: Option<&Path>) -> Self {
        let database = match folder {
            None => Database::in_memory(),
            Some(folder) => {
                let encryption = Encryption::KeyFile(folder.with_extension("key"));
                Database::open_with(folder, Options { encryption, ..Options::default() }).expect("opens")
            }
        };
        database.call_blocking(table()).expect("a table is made");
        let subject = Self { database };
        crate::load(&subject);
        subject
    }

    /// Starts a call and returns its future.
    pub fn start(&self, call: Call, number: usize) -> impl Future<Output = Result<Output, Error>> + Send + use<> {
        self.database.execute(match call {
            Call::Put => put(large(number % ITEMS)),
            Call::Get => get(number % ITEMS),
            Call::Query => query(number % PARTITIONS),
            Call::AddHot => add_hot(),
        })
    }

    fn run(&self, operation: Operation) {
        self.database.execute_blocking(operation).expect("the call succeeds");
    }
}

impl Subject for Keyform {
    fn put(&self, number: usize) {
        self.run(put(large(number)));
    }

    fn put_small(&self, partition: usize, sort: usize) {
        let mut item = key(&format!("partition-{partition}"), &format!("{sort:04}"));
        item.insert("data".to_owned(), AttributeValue::S("x".repeat(150)));
        self.run(put(item));
    }

    fn get(&self, number: usize) {
        self.run(get(number));
    }

    fn query(&self, partition: usize) {
        self.run(query(partition));
    }

    fn add_hot(&self) {
        self.run(add_hot());
    }
}

fn table() -> CreateTable {
    let names = ["pk", "sk"].map(str::to_owned);
    CreateTable {
        attributes: names.clone().map(|name| (name, ScalarType::S)).into(),
        key: KeySchema { partition: vec![names[0].clone()], sort: vec![names[1].clone()] },
        ..CreateTable::named("bench")
    }
}

fn key(partition: &str, sort: &str) -> Attributes {
    [("pk".to_owned(), partition.into()), ("sk".to_owned(), sort.into())].into()
}

fn large(number: usize) -> Attributes {
    let mut item = key(&format!("item-{number}"), "0");
    item.insert("data".to_owned(), AttributeValue::S("x".repeat(1000)));
    item
}

fn put(item: Attributes) -> Operation {
    Operation::PutItem(PutItem { table: "bench".to_owned(), item, ..Default::default() })
}

fn get(number: usize) -> Operation {
    let key = key(&format!("item-{number}"), "0");
    Operation::GetItem(GetItem { table: "bench".to_owned(), key, ..Default::default() })
}

fn query(partition: usize) -> Operation {
    let values = [(":p".to_owned(), format!("partition-{partition}").into())].into();
    let mut values = Substitutions::new(None, Some(values)).expect("values");
    Operation::Query(Query {
        table: "bench".to_owned(),
        index: None,
        key: parse_key_condition("pk = :p", &mut values).expect("a key condition"),
        filter: None,
        projection: None,
        select: None,
        limit: Some(50),
        consistent: false,
        reverse: true,
        start: None,
        return_capacity: Default::default(),
    })
}

fn add_hot() -> Operation {
    let values = [(":one".to_owned(), 1.into())].into();
    let mut values = Substitutions::new(None, Some(values)).expect("values");
    let update = Some(parse_update("ADD n :one", &mut values).expect("an update"));
    Operation::UpdateItem(UpdateItem { table: "bench".to_owned(), key: key("hot", "0"), update, ..Default::default() })
}

/// Waits for a future on this thread.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Parker(std::thread::Thread);
    impl Wake for Parker {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Parker(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
