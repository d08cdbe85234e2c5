//! Feeds on the embedded engine: order, shard splits, positions that survive the feed, disabled streams.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use keyform_core::execute::{BoxFuture, Watch};
use keyform_core::operation::{CreateTable, PutItem, StreamChange, UpdateTable};
use keyform_core::table::{BillingMode, KeySchema, ScalarType, StreamView};
use keyform_core::{AttributeValue, Attributes, Error, Execute, Operation, Output};
use keyform_engine::EngineSettings;
use keyform_engine::ShardLimits;
use keyform_engine::{Database, Options};
use keyform_live::feed::{Feed, FeedError, From, Position};
use keyform_world::SystemWorld;

fn database(records: u64) -> Database {
    let shards = ShardLimits { records, ..ShardLimits::default() };
    let settings = EngineSettings { shards, ..EngineSettings::default() };
    Database::in_memory_with(Options { settings, sweep_interval: None, ..Options::default() })
}

async fn table(database: &Database, stream: Option<StreamView>) {
    let create = CreateTable {
        key: KeySchema { partition: vec!["pk".to_owned()], sort: Vec::new() },
        attributes: [("pk".to_owned(), ScalarType::S)].into(),
        billing: BillingMode::PayPerRequest,
        stream,
        ..CreateTable::named("t".to_owned())
    };
    database.call(create).await.unwrap();
}

async fn put(database: &Database, key: &str, n: i64) {
    let item: Attributes = [("pk".to_owned(), key.into()), ("n".to_owned(), n.into())].into();
    database.call(PutItem { table: "t".to_owned(), item, ..PutItem::default() }).await.unwrap();
}

fn open(database: &Database, from: From) -> impl Future<Output = Result<Feed, FeedError>> {
    let store: Arc<dyn Execute> = Arc::new(database.clone());
    async move { Feed::open(store, Arc::new(SystemWorld), "t", from).await }
}

/// Changes that a feed returned, by item.
#[derive(Default)]
struct Seen(BTreeMap<String, Vec<i64>>);

impl Seen {
    async fn read(&mut self, feed: &mut Feed) {
        loop {
            let batch = feed.read().await.unwrap();
            for change in &batch.changes {
                let new = change.record.new.as_ref().unwrap().to_attributes();
                let (AttributeValue::S(key), AttributeValue::N(n)) = (&new["pk"], &new["n"]) else { panic!("{new:?}") };
                self.0.entry(key.clone()).or_default().push(n.to_i64().unwrap());
            }
            if batch.caught_up {
                return;
            }
        }
    }
}

#[tokio::test]
async fn every_change_comes_once_and_in_order_through_shards_that_split() {
    let database = database(50);
    table(&database, Some(StreamView::NewAndOldImages)).await;
    let mut feed = open(&database, From::Now).await.unwrap();
    let mut seen = Seen::default();
    for n in 0..1000 {
        put(&database, &format!("item-{}", n % 37), n).await;
        if n % 60 == 0 {
            database.sweep().unwrap();
        }
        if n % 90 == 0 {
            seen.read(&mut feed).await;
        }
        if n % 230 == 0 {
            let position = Position::of_text(&feed.position().to_text()).unwrap();
            feed = open(&database, From::Position(position)).await.unwrap();
        }
    }
    seen.read(&mut feed).await;
    assert!(feed.position().shards.len() > 1, "the shards have split");
    assert_eq!(seen.0.values().map(Vec::len).sum::<usize>(), 1000);
    for changes in seen.0.values() {
        assert!(changes.is_sorted_by(|a, b| a < b), "{changes:?}");
    }
    let mut again = Seen::default();
    again.read(&mut open(&database, From::Beginning).await.unwrap()).await;
    assert_eq!(again.0, seen.0);
}

#[tokio::test]
async fn a_feed_is_woken_by_a_change() {
    let database = database(1000);
    table(&database, Some(StreamView::KeysOnly)).await;
    let mut feed = open(&database, From::Now).await.unwrap();
    assert!(feed.read().await.unwrap().changes.is_empty());
    let waiting = feed.wait();
    let (_, ()) = tokio::join!(tokio::time::timeout(Duration::from_secs(10), waiting), put(&database, "a", 1));
    assert_eq!(feed.read().await.unwrap().changes.len(), 1);
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let database = database(1000);
    table(&database, None).await;
    let error = open(&database, From::Now).await.unwrap_err();
    assert!(error.to_string().contains("the table t has no stream"), "{error}");
    let switch = |stream| {
        Operation::UpdateTable(UpdateTable { table: "t".to_owned(), stream: Some(stream), ..UpdateTable::default() })
    };
    database.execute(switch(StreamChange::Enable(StreamView::NewAndOldImages))).await.unwrap();
    let mut feed = open(&database, From::Now).await.unwrap();
    let position = Position::clone(feed.position());
    put(&database, "a", 1).await;
    database.execute(switch(StreamChange::Disable)).await.unwrap();
    assert_eq!(feed.read().await.unwrap().changes.len(), 1, "what came before the end is read");
    assert_eq!(feed.read().await.unwrap_err(), FeedError::Ended);
    database.execute(switch(StreamChange::Enable(StreamView::NewAndOldImages))).await.unwrap();
    assert_eq!(open(&database, From::Position(position)).await.unwrap_err(), FeedError::TooOld, "another stream");
}

/// A store that fails one of its GetRecords.
struct Flaky {
    database: Database,
    reads_before_failure: Arc<AtomicI64>,
}

impl Execute for Flaky {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let is_read = matches!(operation, Operation::GetRecords(_));
        if is_read && self.reads_before_failure.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Box::pin(async { Err(Error::internal("a block cannot be read")) });
        }
        Execute::execute(&self.database, operation)
    }

    fn watch(&self) -> Option<&dyn Watch> {
        self.database.watch()
    }
}

#[tokio::test]
async fn a_feed_has_not_caught_up_while_a_shard_cannot_be_read() {
    let database = database(50);
    table(&database, Some(StreamView::NewAndOldImages)).await;
    for n in 0..200 {
        put(&database, &format!("item-{}", n % 37), n).await;
        if n % 60 == 0 {
            database.sweep().unwrap();
        }
    }
    let reads_before_failure = Arc::new(AtomicI64::new(i64::MAX));
    let store = Flaky { database: database.clone(), reads_before_failure: reads_before_failure.clone() };
    let mut feed = Feed::open(Arc::new(store), Arc::new(SystemWorld), "t", From::Beginning).await.unwrap();
    Seen::default().read(&mut feed).await;
    for n in 200..260 {
        put(&database, &format!("item-{}", n % 37), n).await;
    }
    let passed = feed.passed();
    reads_before_failure.store(1, Ordering::Relaxed);
    let batch = feed.read().await.unwrap();
    assert!(!batch.changes.is_empty(), "the first shard was read");
    assert!(!batch.caught_up);
    assert_eq!(feed.passed(), passed);
    let rest = feed.read().await.unwrap();
    assert_eq!(batch.changes.len() + rest.changes.len(), 60);
}
