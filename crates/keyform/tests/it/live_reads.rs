//! Live reads compared with the read's answer: many clients write at random, subscribers disconnect and reconnect, some
//! are slow, and at the end each one's state equals the answer. On the embedded store, on our server through the AWS
//! SDK, and on ExtendDB if `KEYFORM_EXTENDDB` names its binary.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use keyform::SystemWorld;
use keyform::execute::{BoxFuture, Watch};
use keyform::live::feed::FeedError;
use keyform::live::read::{Ended, Kind, Live, LiveError, LiveEvent, LiveSettings, LiveStream};
use keyform::runtime::run::{Answer, Call, Caller, Found, RunError, RunSettings, Runner};
use keyform::{AttributeValue, Attributes, Database, Error, Execute, Operation, Output};
use keyform_check::Checked;
use keyform_scenario::{Dice, Store, stage};

const MODEL: &str = include_str!("../live/tasks.kf");

fn runner(store: Arc<dyn Execute>, stage: &str) -> Runner {
    let checked = Checked::read(MODEL);
    assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
    let settings = RunSettings { variables: [("stage".to_owned(), stage.to_owned())].into(), ..Default::default() };
    Runner::new(Arc::new(checked), store, Arc::new(SystemWorld), settings).unwrap()
}

fn arguments(pairs: &[(&str, AttributeValue)]) -> Attributes {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn call(pairs: &[(&str, AttributeValue)]) -> Call {
    Call { arguments: arguments(pairs), ..Call::default() }
}

fn text(value: String) -> AttributeValue {
    AttributeValue::S(value)
}

async fn put(runner: &Runner, list: usize, task: usize, state: &str, weight: i64, title: &str) {
    let given = [
        ("listId", text(format!("l{list}"))),
        ("taskId", text(format!("t{task}"))),
        ("title", title.into()),
        ("state", state.into()),
        ("weight", weight.into()),
    ];
    runner.write("put", &call(&given)).await.unwrap();
}

async fn write(runner: &Runner, dice: &mut Dice) {
    let (list, task) = (dice.below(3), dice.below(12));
    if dice.below(4) == 0 {
        let given = [("listId", text(format!("l{list}"))), ("taskId", text(format!("t{task}")))];
        match runner.write("drop", &call(&given)).await {
            Ok(_) | Err(RunError::Refused { .. } | RunError::NotFound(_)) => return,
            Err(error) => panic!("{error}"),
        }
    }
    let (state, weight) = (dice.pick(&["open", "done"]), dice.below(1000) as i64);
    put(runner, list, task, state, weight, &format!("title {}", dice.below(50))).await;
}

/// Subscriber of a read.
struct Follower {
    read: &'static str,
    call: Call,
    /// State assembled from the events.
    state: BTreeMap<String, Found>,
    count: Option<i64>,
    token: Option<String>,
    /// Ids of all changes.
    seen: BTreeSet<String>,
    pages: usize,
    resumed: usize,
    /// Whether an insert must be new and a removal must concern a known item. True for stores with exact pages.
    strict: bool,
}

impl Follower {
    fn new(read: &'static str, call: Call, strict: bool) -> Self {
        let (state, seen) = (BTreeMap::new(), BTreeSet::new());
        Self { read, call, state, count: None, token: None, seen, pages: 0, resumed: 0, strict }
    }

    async fn connect(&self, live: &Live, runner: &Runner) -> LiveStream {
        live.read(runner, self.read, self.call.clone(), self.token.as_deref()).await.unwrap()
    }

    /// Applies an event; returns whether the stream has ended.
    fn fold(&mut self, event: &LiveEvent) -> bool {
        match event {
            LiveEvent::Page(page) => {
                assert!(page.reset.is_none(), "nothing is too old here");
                self.pages += 1;
                self.state = page.items.iter().map(|item| (item.key.clone(), item.found.clone())).collect();
                self.count = page.count.map(|count| count as i64);
                self.token = Some(page.token.clone());
            }
            LiveEvent::Resumed { .. } => self.resumed += 1,
            LiveEvent::Changes(delivery) => {
                for change in &delivery.changes {
                    self.change(change);
                }
                self.token = Some(delivery.token.clone());
            }
            LiveEvent::Ended(why) => {
                assert_eq!(*why, Ended::Slow);
                return true;
            }
        }
        false
    }

    fn change(&mut self, change: &keyform::live::read::LiveChange) {
        let id = change.id.clone().unwrap();
        assert!(self.seen.insert(id), "{}: {change:?} came twice", self.read);
        if let Some(count) = &mut self.count {
            *count += if change.kind == Kind::Insert { 1 } else { -1 };
            return;
        }
        let before = match &change.found {
            Some(found) => self.state.insert(change.key.clone(), found.clone()),
            None => self.state.remove(&change.key),
        };
        if self.strict {
            assert_eq!(before.is_none(), change.kind == Kind::Insert, "{}: {change:?} after {before:?}", self.read);
        }
    }

    /// Returns the current answer of the read.
    async fn answer(&self, runner: &Runner) -> (Vec<Found>, Option<i64>) {
        match runner.read(self.read, &self.call).await {
            Ok(Answer::One(item)) => (item.into_iter().collect(), None),
            Ok(Answer::Page { items, cursor, .. }) => {
                assert!(cursor.is_none(), "the page holds everything");
                (items, None)
            }
            Ok(Answer::Count(count)) => (Vec::new(), Some(count as i64)),
            Ok(Answer::Collection { parts, .. }) => (parts.into_iter().flat_map(|(_, items)| items).collect(), None),
            Err(error) => panic!("{error}"),
        }
    }

    async fn is_right(&self, runner: &Runner) -> Result<(), String> {
        let (mut items, count) = self.answer(runner).await;
        let mut own: Vec<Found> = self.state.values().cloned().collect();
        let order = |found: &Found| format!("{:?}", Attributes::from(found.fields.clone()));
        items.sort_by_key(order);
        own.sort_by_key(order);
        if own == items && count == self.count {
            return Ok(());
        }
        Err(format!("{}: {own:#?} {:?} is not {items:#?} {count:?}", self.read, self.count))
    }
}

fn followers(strict: bool) -> Vec<Follower> {
    let list = |n: u64| ("listId", text(format!("l{n}")));
    let some = AttributeValue::L(vec!["t1".into(), "t5".into(), "t11".into()]);
    [
        ("tasks", call(&[list(0)])),
        ("tasks", call(&[list(1)])),
        ("heavy", call(&[list(1)])),
        ("light", call(&[list(2), ("below", 300.into())])),
        ("byState", call(&[("state", "open".into())])),
        ("byState", call(&[("state", "done".into())])),
        ("titles", call(&[list(0)])),
        ("task", call(&[list(2), ("taskId", "t3".into())])),
        ("some", call(&[list(0), ("taskIds", some)])),
        ("open", call(&[list(0)])),
        ("list", call(&[list(2)])),
        ("everything", call(&[])),
    ]
    .into_iter()
    .map(|(read, call)| Follower::new(read, call, strict))
    .collect()
}

struct Plan {
    writers: u64,
    writes_each: u64,
    strict: bool,
}

/// Runs writers and followers to completion, and compares.
async fn compare(store: Arc<dyn Execute>, stage: &str, plan: Plan) {
    let runner = runner(store, stage);
    runner.create_tables().await.unwrap();
    let quick = Live::new(LiveSettings { poll: Duration::from_millis(50), ..LiveSettings::default() });
    // A small outbox, so that a follower that does not read immediately counts as slow.
    let narrow =
        Live::new(LiveSettings { poll: Duration::from_millis(50), outbox_bytes: 2048, ..LiveSettings::default() });
    let running = Arc::new(AtomicU64::new(plan.writers));
    let mut dice = Dice(7);
    for _ in 0..20 {
        write(&runner, &mut dice).await;
    }
    let mut tasks = tokio::task::JoinSet::new();
    for (number, follower) in followers(plan.strict).into_iter().enumerate() {
        let live = if number % 3 == 1 { narrow.clone() } else { quick.clone() };
        tasks.spawn(follow(follower, live, runner.clone(), running.clone(), number as u64));
    }
    for number in 0..plan.writers {
        let (runner, running) = (runner.clone(), running.clone());
        tokio::spawn(async move {
            let mut dice = Dice(1000 + number);
            for _ in 0..plan.writes_each {
                write(&runner, &mut dice).await;
                if dice.below(8) == 0 {
                    tokio::task::yield_now().await;
                }
            }
            running.fetch_sub(1, Ordering::SeqCst);
        });
    }
    let mut resumed = 0;
    while let Some(followed) = tasks.join_next().await {
        resumed += followed.unwrap();
    }
    assert!(resumed > 0, "at least one client has resumed");
}

/// Follows until the writers are done and the state is right; disconnects and reconnects meanwhile.
async fn follow(mut follower: Follower, live: Live, runner: Runner, running: Arc<AtomicU64>, seed: u64) -> usize {
    let mut dice = Dice(seed);
    let mut stream = follower.connect(&live, &runner).await;
    let mut wrong = String::new();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
    loop {
        let is_over = running.load(Ordering::SeqCst) == 0;
        if is_over {
            match follower.is_right(&runner).await {
                Ok(()) => break,
                Err(why) => wrong = why,
            }
        }
        assert!(tokio::time::Instant::now() < deadline, "{wrong}");
        let next = tokio::time::timeout(Duration::from_millis(50), stream.next()).await;
        let has_ended = match next {
            Err(_) => false,
            Ok(None) => true,
            Ok(Some(event)) => follower.fold(&event),
        };
        if has_ended || !is_over && follower.token.is_some() && dice.below(12) == 0 {
            drop(stream);
            stream = follower.connect(&live, &runner).await;
        }
    }
    follower.resumed
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn followers_know_what_the_embedded_store_answers() {
    let store = Arc::new(Database::in_memory());
    compare(store, "embedded", Plan { writers: 6, writes_each: 250, strict: true }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn followers_know_what_a_store_answers_through_the_sdk() {
    for store in Store::remote().await {
        compare(store.execute.clone(), &stage(), Plan { writers: 3, writes_each: 60, strict: false }).await;
        store.stop();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_whose_guard_no_longer_holds_is_told_so() {
    for store in Store::all().await {
        follow_until_the_guard_fails(store.execute.clone()).await;
        store.stop();
    }
}

async fn follow_until_the_guard_fails(store: Arc<dyn Execute>) {
    let runner = runner(store, &stage());
    runner.create_tables().await.unwrap();
    let member = call(&[("listId", "l0".into()), ("userId", "ada".into())]);
    let caller = Caller::Claims(arguments(&[("userId", "ada".into())]));
    let wanted = Call { caller, ..call(&[("listId", "l0".into())]) };
    let live = Live::default();
    let refused = live.read(&runner, "tasks", wanted.clone(), None).await.unwrap_err();
    assert_eq!(refused, LiveError::Run(RunError::Forbidden));
    runner.write("join", &member).await.unwrap();
    let mut tasks = live.read(&runner, "tasks", wanted, None).await.unwrap();
    assert!(matches!(tasks.next().await, Some(LiveEvent::Page(_))));
    put(&runner, 0, 1, "open", 1, "seen").await;
    let Some(LiveEvent::Changes(changes)) = tasks.next().await else { panic!("a change") };
    assert_eq!(changes.changes[0].kind, Kind::Insert);
    runner.write("leave", &member).await.unwrap();
    put(&runner, 0, 2, "open", 1, "not seen").await;
    let Some(LiveEvent::Ended(why)) = tasks.next().await else { panic!("the end") };
    assert_eq!(why, Ended::Forbidden);
    assert!(tasks.next().await.is_none());
}

#[tokio::test]
async fn an_item_leaves_when_its_time_is_over() {
    let runner = runner(Arc::new(Database::in_memory()), "expiry");
    runner.create_tables().await.unwrap();
    let lend = async |task: &str, secs: i64| {
        let until = runner.now_millis() / 1000 + secs;
        let given = [
            ("listId", "l0".into()),
            ("taskId", task.into()),
            ("title", "for a while".into()),
            ("state", "open".into()),
            ("weight", 1.into()),
            ("expires", until.into()),
        ];
        runner.write("lend", &call(&given)).await.unwrap();
    };
    lend("t0", 1).await;
    let live = Live::default();
    let mut tasks = live.read(&runner, "tasks", call(&[("listId", "l0".into())]), None).await.unwrap();
    let Some(LiveEvent::Page(page)) = tasks.next().await else { panic!("a page") };
    assert_eq!(page.items.len(), 1);
    lend("t1", 1).await;
    let mut removed = BTreeSet::new();
    let mut inserted = BTreeSet::from([page.items[0].key.clone()]);
    while removed.len() < 2 {
        let Some(LiveEvent::Changes(delivery)) = tasks.next().await else { panic!("a change") };
        for change in &delivery.changes {
            match change.kind {
                Kind::Insert => assert!(inserted.insert(change.key.clone())),
                Kind::Remove => assert!(removed.insert(change.key.clone()), "delivered once"),
                Kind::Modify => panic!("{change:?}"),
            }
        }
    }
    assert_eq!(inserted, removed);
}

#[tokio::test]
async fn what_cannot_be_followed_is_refused_in_words() {
    let store = Arc::new(Database::in_memory());
    let runner = runner(store.clone(), "refused");
    runner.create_tables().await.unwrap();
    let live = Live::default();
    let wanted = || call(&[("listId", "l0".into())]);
    let error = live.read(&runner, "tasks", wanted(), Some("nonsense")).await.unwrap_err();
    assert_eq!(error, LiveError::Token);
    let mut tasks = live.read(&runner, "tasks", wanted(), None).await.unwrap();
    let Some(LiveEvent::Page(page)) = tasks.next().await else { panic!("a page") };
    let other = call(&[("listId", "l1".into())]);
    let error = live.read(&runner, "tasks", other, Some(&page.token)).await.unwrap_err();
    assert_eq!(error, LiveError::Token, "a token of other arguments");
    let without = MODEL.replace("stream new_and_old", "stream new");
    let checked = Checked::read(&without);
    let settings = RunSettings { variables: [("stage".to_owned(), "new".to_owned())].into(), ..Default::default() };
    let runner = Runner::new(Arc::new(checked), store.clone(), Arc::new(SystemWorld), settings.clone()).unwrap();
    runner.create_tables().await.unwrap();
    let error = live.read(&runner, "tasks", wanted(), None).await.unwrap_err();
    assert!(error.to_string().contains("stream new_and_old"), "{error}");
    let without = MODEL.replace("stream new_and_old", "");
    let settings = RunSettings { variables: [("stage".to_owned(), "none".to_owned())].into(), ..settings };
    let runner = Runner::new(Arc::new(Checked::read(&without)), store, Arc::new(SystemWorld), settings).unwrap();
    runner.create_tables().await.unwrap();
    let error = live.read(&runner, "tasks", wanted(), None).await.unwrap_err();
    assert!(matches!(error, LiveError::Feed(FeedError::NoStream { .. })), "{error}");
}

/// Store whose stream can become unreadable, as with a damaged block.
struct Unreadable {
    database: Database,
    is_damaged: Arc<AtomicBool>,
}

impl Execute for Unreadable {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        if matches!(operation, Operation::GetRecords(_)) && self.is_damaged.load(Ordering::Acquire) {
            return Box::pin(async { Err(Error::internal("0000000007.table is damaged")) });
        }
        Execute::execute(&self.database, operation)
    }

    fn watch(&self) -> Option<&dyn Watch> {
        self.database.watch()
    }
}

#[tokio::test]
async fn a_follower_of_a_stream_that_cannot_be_read_is_refused() {
    let is_damaged = Arc::new(AtomicBool::new(false));
    let store = Unreadable { database: Database::in_memory(), is_damaged: is_damaged.clone() };
    let runner = runner(Arc::new(store), "damaged");
    runner.create_tables().await.unwrap();
    let live = Live::default();
    let wanted = || call(&[("listId", "l0".into())]);
    let mut first = live.read(&runner, "tasks", wanted(), None).await.unwrap();
    assert!(matches!(first.next().await, Some(LiveEvent::Page(_))));
    is_damaged.store(true, Ordering::Release);
    put(&runner, 0, 1, "open", 1, "cannot be followed").await;
    let error = live.read(&runner, "tasks", wanted(), None).await.unwrap_err();
    assert!(matches!(error, LiveError::Feed(FeedError::Store(_))), "{error}");
    is_damaged.store(false, Ordering::Release);
    let Some(LiveEvent::Changes(changes)) = first.next().await else { panic!("the change, when it can be read") };
    assert_eq!(changes.changes[0].kind, Kind::Insert);
}
