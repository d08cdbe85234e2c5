//! Copies between any two stores, interrupted after any request and resumed, and with concurrent changes. Both sides
//! are the same at the end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use keyform::SystemWorld;
use keyform::operation::{
    CreateTable, DeleteItem, DeleteTable, DescribeTable, DescribeTimeToLive, PutItem, TimeToLive, UpdateTimeToLive,
    WriteRequest,
};
use keyform::table::{GlobalIndex, KeySchema, LocalIndex, Projection, ScalarType, StreamView, TableDescription};
use keyform::{AttributeValue, Attributes, Database, Error, Execute, ExecuteExt, Operation, Options, Output};
use keyform_scenario::fault::Mortal;
use keyform_scenario::{Store, stage};
use keyform_transfer::{Checkpoint, Copier, CopyError, CopyReport, CopySettings, Follow, fingerprint};
use keyform_world::testing::ManualWorld;
use tokio::sync::watch;

fn name(table: &str) -> String {
    format!("{table}-{}", stage())
}

fn create(table: &str) -> CreateTable {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let key = |partition: &[&str], sort: &[&str]| KeySchema { partition: names(partition), sort: names(sort) };
    CreateTable {
        attributes: [("pk", ScalarType::S), ("sk", ScalarType::N), ("kind", ScalarType::S), ("at", ScalarType::N)]
            .map(|(name, kind)| (name.to_owned(), kind))
            .into(),
        key: key(&["pk"], &["sk"]),
        global_indexes: vec![GlobalIndex {
            name: "by-kind".to_owned(),
            key: key(&["kind"], &["sk"]),
            projection: Projection::Include(names(&["title"])),
            throughput: None,
            on_demand: None,
            warm: None,
        }],
        local_indexes: vec![LocalIndex {
            name: "by-time".to_owned(),
            key: key(&["pk"], &["at"]),
            projection: Projection::KeysOnly,
        }],
        stream: Some(StreamView::NewAndOldImages),
        ..CreateTable::named(table)
    }
}

fn key(number: i64) -> Attributes {
    [("pk".to_owned(), format!("p{}", number % 5).into()), ("sk".to_owned(), number.into())].into()
}

/// Creates an item with a value of each type.
fn item(number: i64, title: &str) -> Attributes {
    let mut item = key(number);
    let mut set = |name: &str, value: AttributeValue| item.insert(name.to_owned(), value);
    set("kind", "thing".into());
    set("at", (1000 - number).into());
    set("title", title.into());
    set("exact", AttributeValue::N("1234567890123456789012345678901234567.8".parse().unwrap()));
    set("tiny", AttributeValue::N("-1E-130".parse().unwrap()));
    set("bytes", AttributeValue::B(vec![0, 255, 10]));
    set("flag", true.into());
    set("nothing", AttributeValue::Null);
    set("words", AttributeValue::Ss(["b".to_owned(), "a".to_owned()].into()));
    set("numbers", AttributeValue::Ns([2.into(), 1.into()].into()));
    set("pieces", AttributeValue::Bs([vec![1], vec![0]].into()));
    set("list", AttributeValue::L(vec![AttributeValue::Null, AttributeValue::M(Attributes::new()), "".into()]));
    set("expires", 4_000_000_000_i64.into());
    item
}

async fn put(store: &dyn Execute, table: &str, item: Attributes) {
    let put = PutItem { table: table.to_owned(), item, ..PutItem::default() };
    store.call(put).await.unwrap();
}

async fn delete(store: &dyn Execute, table: &str, key: Attributes) {
    let delete = DeleteItem { table: table.to_owned(), key, ..DeleteItem::default() };
    store.call(delete).await.unwrap();
}

async fn fill(store: &dyn Execute, table: &str, items: i64) {
    store.call(create(table)).await.unwrap();
    keyform_runtime::deploy::ready(store, &SystemWorld, table, Default::default()).await.unwrap();
    for number in 0..items {
        put(store, table, item(number, "as it was")).await;
    }
}

fn copier(from: Arc<dyn Execute>, to: Arc<dyn Execute>, settings: CopySettings, checkpoint: Checkpoint) -> Copier {
    Copier {
        from,
        to,
        world: Arc::new(SystemWorld),
        settings,
        checkpoint: Arc::new(checkpoint),
        progress: Arc::new(|_| {}),
    }
}

async fn describe(store: &dyn Execute, table: &str) -> TableDescription {
    let Ok(table) = store.call(DescribeTable { table: table.to_owned() }).await else { panic!("there is no {table}") };
    *table
}

async fn remove(store: &dyn Execute, table: &str) {
    drop(store.call(DeleteTable { table: table.to_owned() }).await);
}

/// Returns settings that follow until the source is idle this long.
fn following(idle_millis: i64) -> CopySettings {
    let (_, stop) = watch::channel(false);
    CopySettings {
        segments: 2,
        follow: Some(Follow { stop, idle_millis: Some(idle_millis) }),
        ..CopySettings::default()
    }
}

#[tokio::test]
async fn a_table_is_copied_between_any_two_stores() {
    let mut pairs = vec![(Store::embedded(), Store::served().await), (Store::served().await, Store::embedded())];
    if let (Some(one), Some(other)) = (Store::extenddb().await, Store::extenddb().await) {
        pairs.push((Store::embedded(), one));
        pairs.push((other, Store::served().await));
    }
    for (from, to) in pairs {
        let (source, target) = (name("source"), name("target"));
        fill(&*from.execute, &source, 60).await;
        let setting = TimeToLive { attribute: "expires".to_owned(), enabled: true };
        let expire = UpdateTimeToLive { table: source.clone(), setting };
        from.execute.call(expire).await.unwrap();
        let copier = copier(from.execute.clone(), to.execute.clone(), CopySettings::default(), Checkpoint::in_memory());
        let report = copier.table(&source, &target).await.unwrap();
        let place = format!("{} to {}", from.name, to.name);
        assert!(report.made && report.items == 60 && report.verified.is_some_and(|both| both.items == 60), "{place}");
        let (was, is) = (describe(&*from.execute, &source).await, describe(&*to.execute, &target).await);
        assert_eq!((was.attributes, was.key), (is.attributes, is.key), "{place}");
        assert_eq!(was.global_indexes[0].index.key, is.global_indexes[0].index.key, "{place}");
        assert_eq!(was.local_indexes[0].index, is.local_indexes[0].index, "{place}");
        assert_eq!(was.stream.map(|stream| stream.view), is.stream.map(|stream| stream.view), "{place}");
        let expiry = to.execute.call(DescribeTimeToLive { table: target.clone() }).await.unwrap();
        assert_eq!(expiry.attribute.as_deref(), Some("expires"));
        remove(&*from.execute, &source).await;
        remove(&*to.execute, &target).await;
        from.stop();
        to.stop();
    }
}

#[tokio::test]
async fn what_cannot_be_copied_is_refused() {
    let (from, to) = (Store::embedded().execute, Store::embedded().execute);
    fill(&*from, "things", 3).await;
    fill(&*to, "things", 1).await;
    let copier = |settings| copier(from.clone(), to.clone(), settings, Checkpoint::in_memory());
    let refused = copier(CopySettings::default()).table("nothing", "things").await;
    assert!(matches!(refused, Err(CopyError::NoTable(table)) if table == "nothing"));
    let refused = copier(CopySettings::default()).table("things", "things").await;
    assert!(matches!(refused, Err(CopyError::NotEmpty(table)) if table == "things"));
    let overwritten =
        copier(CopySettings { overwrite: true, ..CopySettings::default() }).table("things", "things").await;
    assert_eq!(overwritten.unwrap().items, 3);
    let other = CreateTable {
        attributes: [("id".to_owned(), ScalarType::S)].into(),
        key: KeySchema { partition: vec!["id".to_owned()], sort: vec![] },
        ..CreateTable::named("other")
    };
    to.call(other.clone()).await.unwrap();
    let refused = copier(CopySettings::default()).table("things", "other").await;
    assert!(matches!(refused, Err(CopyError::OtherKey(table)) if table == "other"));
    from.call(other).await.unwrap();
    let refused = copier(following(0)).table("other", "other").await;
    assert!(matches!(refused, Err(CopyError::Feed(_))), "{refused:?}");
}

/// Two stores with a source and a target table.
struct Pair {
    from: Arc<dyn Execute>,
    to: Arc<dyn Execute>,
    source: String,
    target: String,
}

impl Pair {
    fn new(from: &Store, to: &Store) -> Self {
        let (source, target) = (name("things"), name("copies"));
        Self { from: from.execute.clone(), to: to.execute.clone(), source, target }
    }

    fn embedded() -> Self {
        Self::new(&Store::embedded(), &Store::embedded())
    }

    /// Runs a copy whose stores fail after a number of requests, then resumes it; returns whether it failed.
    async fn killed(&self, requests: i64, file: &Path, settings: &CopySettings) -> (CopyReport, bool) {
        let Self { from, to, source, target } = self;
        fill(&**from, source, 23).await;
        let (dying, dead) = (Mortal::new(from.clone(), requests), Mortal::new(to.clone(), requests));
        let (dying, dead) = (Arc::new(dying), Arc::new(dead));
        let first = copier(dying.clone(), dead.clone(), settings.clone(), Checkpoint::open(file).unwrap());
        let died = first.table(source, target).await.is_err();
        assert_eq!(died, dying.is_dead() || dead.is_dead());
        if settings.follow.is_some() {
            // These changes come after the recorded position, so they must arrive whatever the first run has seen.
            put(&**from, source, item(1, "changed")).await;
            put(&**from, source, item(100, "new")).await;
            delete(&**from, source, key(2)).await;
        }
        let second = copier(from.clone(), to.clone(), settings.clone(), Checkpoint::open(file).unwrap());
        let report = second.table(source, target).await.unwrap();
        second.checkpoint.remove().unwrap();
        (report, died)
    }

    /// Asserts that both sides are the same and have this many items.
    async fn assert_same(&self, items: u64) {
        let was = fingerprint(self.from.clone(), &self.source, 1, None).await.unwrap();
        let is = fingerprint(self.to.clone(), &self.target, 1, None).await.unwrap();
        assert_eq!((was, was.items), (is, items));
    }

    async fn remove(&self) {
        remove(&*self.from, &self.source).await;
        remove(&*self.to, &self.target).await;
    }
}

#[tokio::test]
async fn a_copy_that_is_killed_after_any_request_goes_on_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let settings = CopySettings { segments: 2, page_items: Some(4), ..CopySettings::default() };
    for requests in 0.. {
        let (report, died) = Pair::embedded().killed(requests, &folder.path().join("checkpoint"), &settings).await;
        assert_eq!(report.items, 23, "after {requests}");
        if !died {
            assert!(requests > 10, "there was enough to be killed in");
            break;
        }
    }
}

#[tokio::test]
async fn a_copy_that_follows_is_killed_after_any_request_and_goes_on_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let settings = CopySettings { page_items: Some(8), ..following(0) };
    for requests in 0.. {
        let pair = Pair::embedded();
        let (report, died) = pair.killed(requests, &folder.path().join("checkpoint"), &settings).await;
        assert!(report.verified.is_some(), "after {requests}");
        pair.assert_same(23).await;
        if !died {
            break;
        }
    }
}

/// From and to every store through the AWS SDK. Remote streams have a delay, so the copy waits for some idle time.
#[tokio::test]
async fn a_copy_through_the_sdk_is_killed_and_goes_on_to_the_same_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("checkpoint");
    for store in Store::remote().await {
        for (from, to) in [(&store, &Store::embedded()), (&Store::embedded(), &store)] {
            for requests in (0..).step_by(7) {
                let pair = Pair::new(from, to);
                let settings = CopySettings { page_items: Some(8), ..following(200) };
                let (_, died) = pair.killed(requests, &file, &settings).await;
                pair.assert_same(23).await;
                pair.remove().await;
                if !died {
                    break;
                }
            }
        }
        store.stop();
    }
}

#[tokio::test]
async fn a_checkpoint_of_another_copy_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("checkpoint");
    let (from, to) = (Store::embedded().execute, Store::embedded().execute);
    fill(&*from, "things", 3).await;
    let copier = |to_table: &'static str| {
        let copier = copier(from.clone(), to.clone(), CopySettings::default(), Checkpoint::open(&file).unwrap());
        async move { copier.table("things", to_table).await }
    };
    copier("copies").await.unwrap();
    assert!(matches!(copier("others").await, Err(CopyError::Checkpoint(_))));
    std::fs::write(&file, "{}").unwrap();
    assert!(matches!(Checkpoint::open(&file), Err(CopyError::Checkpoint(_))));
}

/// Writers change the source during the copy; after they stop, both sides are the same.
async fn under_load(from: Store, to: Store) {
    let (source, target) = (name("busy"), name("copy"));
    fill(&*from.execute, &source, 40).await;
    let (stop, stopped) = watch::channel(false);
    let settings = CopySettings {
        segments: 2,
        page_items: Some(5),
        follow: Some(Follow { stop: stopped, idle_millis: None }),
        ..CopySettings::default()
    };
    let copier = copier(from.execute.clone(), to.execute.clone(), settings, Checkpoint::in_memory());
    let copying = tokio::spawn({
        let (source, target) = (source.clone(), target.clone());
        async move { copier.table(&source, &target).await }
    });
    let mut expected: BTreeMap<i64, String> = (0..40).map(|number| (number, "as it was".to_owned())).collect();
    for turn in 0..120_i64 {
        let number = turn * 7 % 60;
        if turn % 4 == 3 {
            delete(&*from.execute, &source, key(number)).await;
            expected.remove(&number);
        } else {
            let title = format!("turn {turn}");
            put(&*from.execute, &source, item(number, &title)).await;
            expected.insert(number, title);
        }
    }
    stop.send_replace(true);
    let report = copying.await.unwrap().unwrap();
    assert_eq!(report.verified.map(|both| both.items), Some(expected.len() as u64), "{} to {}", from.name, to.name);
    remove(&*from.execute, &source).await;
    remove(&*to.execute, &target).await;
    from.stop();
    to.stop();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_during_a_copy_are_brought_over() {
    under_load(Store::embedded(), Store::served().await).await;
    under_load(Store::served().await, Store::embedded()).await;
    if let Some(extenddb) = Store::extenddb().await {
        under_load(extenddb, Store::embedded()).await;
    }
}

/// Store that processes only one write of each batch.
struct Slow(Database);

impl Execute for Slow {
    fn execute(&self, operation: Operation) -> keyform::execute::BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move {
            let Operation::BatchWriteItem(mut batch) = operation else {
                return Execute::execute(&self.0, operation).await;
            };
            let rest: Vec<WriteRequest> = batch.tables[0].1.split_off(1);
            let table = batch.tables[0].0.clone();
            let mut output = self.0.call(batch).await?;
            if !rest.is_empty() {
                output.unprocessed.insert(table, rest);
            }
            Ok(Output::BatchWriteItem(output))
        })
    }
}

#[tokio::test]
async fn what_a_store_did_not_get_to_is_sent_again() {
    let from = Store::embedded().execute;
    fill(&*from, "things", 12).await;
    let to: Arc<dyn Execute> = Arc::new(Slow(Database::in_memory()));
    let copier = copier(from, to, CopySettings { segments: 1, ..CopySettings::default() }, Checkpoint::in_memory());
    assert_eq!(copier.table("things", "things").await.unwrap().verified.map(|both| both.items), Some(12));
}

/// The engine trims its stream by its own clock.
#[tokio::test]
async fn a_copy_that_was_away_for_more_than_a_day_says_that_changes_are_lost() {
    let env = ManualWorld::at_ms(1_800_000_000_000);
    let options = Options { world: Arc::new(env.clone()), ..Options::default() };
    let database = Database::in_memory_with(options);
    let from: Arc<dyn Execute> = Arc::new(database.clone());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("checkpoint");
    fill(&*from, "things", 23).await;
    let to = Store::embedded().execute;
    let dying = Arc::new(Mortal::new(to.clone(), 4));
    let first = copier(from.clone(), dying, following(0), Checkpoint::open(&file).unwrap());
    assert!(first.table("things", "copies").await.is_err());
    put(&*from, "things", item(1, "changed")).await;
    env.advance_ms(25 * 3600 * 1000);
    database.sweep().unwrap();
    put(&*from, "things", item(2, "changed, a day later")).await;
    let second = copier(from.clone(), to.clone(), following(0), Checkpoint::open(&file).unwrap());
    let error = second.table("things", "copies").await.unwrap_err();
    assert!(matches!(&error, CopyError::Trimmed(table) if table == "things"), "{error}");
    assert!(error.to_string().contains("Remove the checkpoint"), "{error}");
}
