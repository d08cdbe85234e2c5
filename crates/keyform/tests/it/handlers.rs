//! Handlers: every change at least once and in order per item, shared by several instances, resumed after a crash, with
//! dead letters that are retried. On the embedded store, on our server through the AWS SDK, and on ExtendDB if
//! available.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use keyform::runtime::run::{Call, RunSettings, Runner};
use keyform::{AttributeValue, Database, Encryption, Execute, Options};
use keyform::{Durability, SystemWorld};
use keyform_check::Checked;
use keyform_language::document::ast::Event;
use keyform_live::handle::{Begin, DeadLetters, HandleError, HandlerSettings, Handlers, Redriven};
use keyform_scenario::{Store, stage};
use tokio::sync::Notify;

const MODEL: &str = r#"
model ledger

table T "ledger-{stage}" {
  key    pk
  tag    kind
  stream new_and_old
}

entity Note in T {
  key "NOTE#{noteId}"

  noteId: slug(1..20)
  number: int(0..1000000)

  volume 1K items, 100 bytes
}

entity Other in T {
  key "OTHER#{otherId}"

  otherId: slug(1..20)

  volume 1K items, 100 bytes
}

on Note insert, modify -> handler record needs new
on Note remove         -> handler gone needs old

write put(noteId, number) {
  put Note {}
}

write putOther(otherId) {
  put Other {}
}

write remove(noteId) {
  delete Note(noteId)
}
"#;

/// Unique tables, because tests share ExtendDB.
fn runner(store: Arc<dyn Execute>) -> Runner {
    runner_of(store, &stage())
}

fn runner_of(store: Arc<dyn Execute>, stage: &str) -> Runner {
    let checked = Checked::read(MODEL);
    assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
    let settings = RunSettings { variables: [("stage".to_owned(), stage.to_owned())].into(), ..RunSettings::default() };
    Runner::new(Arc::new(checked), store, Arc::new(SystemWorld), settings).unwrap()
}

async fn put(runner: &Runner, note: usize, number: i64) {
    let arguments =
        [("noteId".to_owned(), AttributeValue::S(format!("n{note}"))), ("number".to_owned(), number.into())];
    runner.write("put", &Call { arguments: arguments.into(), ..Call::default() }).await.unwrap();
}

/// Uses a checkpoint table named after the runner's table.
fn settings(runner: &Runner) -> HandlerSettings {
    HandlerSettings {
        table: format!("checkpoints-{}", runner.tables()[0].0),
        lease: Duration::from_millis(600),
        backoff: Duration::from_millis(5),
        poll: Duration::from_millis(20),
        attempts: 3,
        ..HandlerSettings::default()
    }
}

/// Changes that handlers have received.
#[derive(Default)]
struct Seen {
    /// Numbers of each note in order of arrival, with the id of the change.
    numbers: Mutex<BTreeMap<String, Vec<(String, i64)>>>,
    removed: Mutex<Vec<String>>,
    arrived: Notify,
}

impl Seen {
    fn handlers(self: &Arc<Self>, runner: &Runner) -> Handlers {
        let (record, gone) = (self.clone(), self.clone());
        Handlers::new(runner.clone())
            .with(settings(runner))
            .on("record", move |change| {
                let seen = record.clone();
                async move {
                    let fields = &change.new.as_ref().ok_or("no new image")?.fields;
                    let AttributeValue::N(number) = &fields["number"] else { return Err("no number".to_owned()) };
                    let AttributeValue::S(note) = &fields["noteId"] else { return Err("no id".to_owned()) };
                    let entry = (change.id.clone(), number.to_i64().unwrap());
                    seen.numbers.lock().unwrap().entry(note.clone()).or_default().push(entry);
                    seen.arrived.notify_one();
                    Ok(())
                }
            })
            .on("gone", move |change| {
                let seen = gone.clone();
                async move {
                    assert_eq!(change.event, Event::Remove);
                    seen.removed.lock().unwrap().push(change.id.clone());
                    seen.arrived.notify_one();
                    Ok(())
                }
            })
    }

    /// Waits until this many distinct changes have arrived.
    async fn wait_for(&self, count: usize) {
        let waited = async {
            while self.distinct() < count {
                self.arrived.notified().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waited).await.expect("all changes in time");
    }

    /// Waits until the change that set the first note to `number` has arrived.
    async fn wait_for_number(&self, number: i64) {
        let waited = async {
            while !self.numbers_of_first_note().contains(&number) {
                self.arrived.notified().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), waited).await.expect("the change in time");
    }

    /// Returns the numbers that the first note was set to, in the order of arrival.
    fn numbers_of_first_note(&self) -> Vec<i64> {
        let numbers = self.numbers.lock().unwrap();
        numbers.get("n1").into_iter().flatten().map(|(_, number)| *number).collect()
    }

    /// Returns the number of distinct changes.
    fn distinct(&self) -> usize {
        let numbers = self.numbers.lock().unwrap();
        let ids: std::collections::BTreeSet<_> = numbers.values().flatten().map(|(id, _)| id.clone()).collect();
        ids.len()
    }

    /// Asserts that the first deliveries of an item's changes are in order.
    fn check_order(&self) {
        for changes in self.numbers.lock().unwrap().values() {
            let mut firsts: Vec<i64> = Vec::new();
            for (_, number) in changes {
                if !firsts.contains(number) {
                    firsts.push(*number);
                }
            }
            assert!(firsts.is_sorted(), "{changes:?}");
        }
    }
}

async fn handle_all(store: Arc<dyn Execute>) {
    let runner = runner(store);
    runner.create_tables().await.unwrap();
    let seen = Arc::new(Seen::default());
    let first = seen.handlers(&runner).start().await.unwrap();
    let second = seen.handlers(&runner).start().await.unwrap();
    for number in 0..100 {
        put(&runner, number % 7, number as i64).await;
    }
    seen.wait_for(100).await;
    // One instance stops gracefully, the other is cut off: a third one resumes their work.
    first.stop().await;
    drop(second);
    for number in 100..200 {
        put(&runner, number % 7, number as i64).await;
    }
    let third = seen.handlers(&runner).start().await.unwrap();
    seen.wait_for(200).await;
    seen.check_order();
    let arguments = [("noteId".to_owned(), AttributeValue::S("n1".to_owned()))].into();
    runner.write("remove", &Call { arguments, ..Call::default() }).await.unwrap();
    let removed = async {
        while seen.removed.lock().unwrap().is_empty() {
            seen.arrived.notified().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), removed).await.unwrap();
    third.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn copies_of_a_program_share_the_changes() {
    for store in Store::all().await {
        handle_all(store.execute.clone()).await;
        store.stop();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_outlives_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let options = || Options { durability: Durability::Os, encryption: Encryption::Off, ..Options::default() };
    for round in 0..2 {
        let database = Database::open_with(folder.path(), options()).unwrap();
        let runner = runner_of(Arc::new(database.clone()), "kept");
        runner.create_tables().await.unwrap();
        let seen = Arc::new(Seen::default());
        put(&runner, 1, round).await;
        let running = seen.handlers(&runner).start().await.unwrap();
        // The second round may begin with a repetition: a checkpoint follows its change.
        seen.wait_for_number(round).await;
        running.stop().await;
        let numbers = seen.numbers_of_first_note();
        if round == 1 {
            assert!(
                numbers.ends_with(&[1]) && numbers.len() <= 2,
                "{numbers:?}: what was done is not done again and again"
            );
        }
        database.close().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_handler_cannot_take_is_kept_and_driven_again() {
    for store in Store::all().await {
        keep_and_drive_again(store.execute.clone()).await;
        store.stop();
    }
}

async fn keep_and_drive_again(store: Arc<dyn Execute>) {
    let runner = runner(store);
    runner.create_tables().await.unwrap();
    let (broken, tried) = (Arc::new(AtomicBool::new(true)), Arc::new(Mutex::new(Vec::new())));
    let (is_broken, tries) = (broken.clone(), tried.clone());
    let arrived = Arc::new(Notify::new());
    let told = arrived.clone();
    let handlers = Handlers::new(runner.clone())
        .with(settings(&runner))
        .on("record", move |change| {
            tries.lock().unwrap().push((change.id.clone(), change.attempt));
            told.notify_one();
            let is_first = change.new.is_some_and(|note| note.fields["noteId"] == "n1".into());
            let fails = is_broken.load(Ordering::SeqCst) && is_first;
            async move {
                assert!(!fails, "no luck with n1");
                Ok(())
            }
        })
        .on("gone", |_| async { Ok(()) });
    let running = handlers.clone().start().await.unwrap();
    put(&runner, 1, 1).await;
    put(&runner, 2, 2).await;
    // Changes of other shards may arrive meanwhile, so wait for the dead letter itself.
    let waited = async {
        loop {
            let letters = handlers.dead_letters("record").await.unwrap();
            if !letters.is_empty() && tried.lock().unwrap().len() >= 4 {
                return letters;
            }
            drop(tokio::time::timeout(Duration::from_millis(20), arrived.notified()).await);
        }
    };
    let letters = tokio::time::timeout(Duration::from_secs(30), waited).await.unwrap();
    assert_eq!(letters.len(), 1, "the other note was not held up");
    assert!(letters[0].error.contains("panicked"), "{letters:?}");
    assert_eq!(letters[0].attempts, 3);
    assert_eq!(handlers.redrive("record").await.unwrap(), Redriven { taken: 0, kept: 1 });
    broken.store(false, Ordering::SeqCst);
    assert_eq!(handlers.redrive("record").await.unwrap(), Redriven { taken: 1, kept: 0 });
    assert!(handlers.dead_letters("record").await.unwrap().is_empty());
    let last = tried.lock().unwrap().last().cloned().unwrap();
    assert_eq!(last.0, letters[0].change, "under the same id");
    // A program without handler code requests a retry; the running program performs it.
    broken.store(true, Ordering::SeqCst);
    put(&runner, 1, 3).await;
    let kept = DeadLetters::new(runner.store().clone(), &runner.checked().model, &settings(&runner));
    let waited = async {
        while kept.of("record").await.unwrap().is_empty() {
            drop(tokio::time::timeout(Duration::from_millis(20), arrived.notified()).await);
        }
        broken.store(false, Ordering::SeqCst);
        for letter in kept.of("record").await.unwrap() {
            kept.want(&letter).await.unwrap();
        }
        while !kept.of("record").await.unwrap().is_empty() {
            drop(tokio::time::timeout(Duration::from_millis(20), arrived.notified()).await);
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waited).await.unwrap();
    assert_eq!(kept.of("dance").await.unwrap_err(), HandleError::Unknown("dance".to_owned()));
    running.stop().await;
}

#[tokio::test]
async fn code_and_model_must_name_the_same_handlers() {
    let runner = runner(Arc::new(Database::in_memory()));
    let error = Handlers::new(runner.clone()).on("record", |_| async { Ok(()) }).start().await.unwrap_err();
    assert_eq!(error, HandleError::Missing("gone".to_owned()));
    let all = Handlers::new(runner).on("record", |_| async { Ok(()) }).on("gone", |_| async { Ok(()) });
    let error = all.on("dance", |_| async { Ok(()) }).start().await.unwrap_err();
    assert!(error.to_string().contains("no handler `dance`"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_can_begin_with_what_happens_from_now_on() {
    for store in Store::all().await {
        begin_from_now_on(store.execute.clone()).await;
        store.stop();
    }
}

async fn begin_from_now_on(store: Arc<dyn Execute>) {
    let runner = runner(store);
    runner.create_tables().await.unwrap();
    put(&runner, 1, 1).await;
    let seen = Arc::new(Seen::default());
    let handlers = seen.handlers(&runner).with(HandlerSettings { begin: Begin::Now, ..settings(&runner) });
    let running = handlers.start().await.unwrap();
    // The first read determines the start position, so write until a change arrives after it.
    let waited = async {
        let mut number = 2;
        while seen.distinct() == 0 {
            put(&runner, 1, number).await;
            number += 1;
            drop(tokio::time::timeout(Duration::from_millis(20), seen.arrived.notified()).await);
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waited).await.unwrap();
    assert!(seen.numbers.lock().unwrap()["n1"].iter().all(|(_, number)| *number > 1));
    running.stop().await;
}
