//! Live reads during an open evolution: old items are part of the answer in their new form, whichever application
//! writes them. At the end, and at every pause, a follower's state equals the read's answer. On every store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use keyform::Execute;
use keyform::SystemWorld;
use keyform::live::read::{Live, LiveEvent, LiveSettings, LiveStream};
use keyform::runtime::run::{Answer, Call, Found, RunSettings, Runner};
use keyform_check::Checked;
use keyform_runtime::evolve::{Migration, Pace};
use keyform_scenario::{Store, stage};

/// Initial form: one partition for all notes.
const OLD: &str = r#"
model notes

table Old "old-{stage}" {
  key    pk, sk
  stream new_and_old
}

entity Note in Old {
  key "NOTES", "NOTE#{noteId}"

  noteId: slug(1..20)
  userId: slug(1..20)
  words:  string(..100)

  volume 1K items, 300 bytes
  allow K16 "few"
}

write write(noteId, userId, words) {
  put Note {}
}

write forget(noteId) {
  delete Note(noteId)
}
"#;

/// A field is renamed and another one is added.
const RENAMED: &str = r#"
model notes

table Old "old-{stage}" {
  key    pk, sk
  stream new_and_old
}

entity Note in Old {
  key "NOTES", "NOTE#{noteId}"

  noteId: slug(1..20)
  userId: slug(1..20)
  text:   string(..100)
  state:  "open" | "done"

  volume 1K items, 300 bytes
  allow K16 "few"
}

evolve Note {
  rename words -> text
  set state = "open"
}

read note(noteId) -> Note?
read notes() -> [Note] page 50
read openNotes() -> [Note] where state = "open", page 50
read noteCount() -> count Note

write write(noteId, userId, text) {
  put Note { state = "done" }
}

write forget(noteId) {
  delete Note(noteId)
}
"#;

/// One partition per user: in the same table, or in another one.
const MOVED: &str = r#"
model notes

table Old "old-{stage}" {
  key    pk, sk
  stream new_and_old
}

TABLE
entity Note in NEW {
  key "USER#{userId}", "NOTE#{noteId}"

  noteId: slug(1..20)
  userId: slug(1..20)
  words:  string(..100)

  volume 1K items, 300 bytes, 20 per partition
}

evolve Note {
  from table Old
  from key "NOTES", "NOTE#{noteId}"
}

read note(userId, noteId) -> Note?
read notes(userId) -> [Note] page 50
read noteCount(userId) -> count Note

write write(noteId, userId, words) {
  put Note {}
}

write forget(userId, noteId) {
  delete Note(userId, noteId)
}
"#;

fn runner(text: &str, store: &Arc<dyn Execute>, stage: &str) -> Runner {
    let checked = Checked::read(text);
    assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
    Runner::new(Arc::new(checked), store.clone(), Arc::new(SystemWorld), settings(stage)).unwrap()
}

fn settings(stage: &str) -> RunSettings {
    RunSettings { variables: [("stage".to_owned(), stage.to_owned())].into(), ..RunSettings::default() }
}

fn call(arguments: &[(&str, &str)]) -> Call {
    let arguments = arguments.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    Call { arguments, ..Call::default() }
}

async fn write(runner: &Runner, name: &str, arguments: &[(&str, &str)]) {
    runner.write(name, &call(arguments)).await.unwrap();
}

/// Subscriber of a read.
struct Follower {
    read: &'static str,
    call: Call,
    stream: LiveStream,
    token: String,
    state: BTreeMap<String, Found>,
    count: Option<i64>,
}

impl Follower {
    async fn new(live: &Live, runner: &Runner, read: &'static str, arguments: &[(&str, &str)]) -> Self {
        let call = call(arguments);
        let stream = live.read(runner, read, call.clone(), None).await.unwrap();
        Self { read, call, stream, token: String::new(), state: BTreeMap::new(), count: None }
    }

    /// Reconnects with the resume token.
    async fn comes_back(&mut self, live: &Live, runner: &Runner) {
        self.stream = live.read(runner, self.read, self.call.clone(), Some(&self.token)).await.unwrap();
    }

    fn fold(&mut self, event: LiveEvent) {
        match event {
            LiveEvent::Page(page) => {
                self.state = page.items.iter().map(|item| (item.key.clone(), item.found.clone())).collect();
                self.count = page.count.map(|count| i64::try_from(count).unwrap());
                self.token.clone_from(&page.token);
            }
            LiveEvent::Resumed { .. } => {}
            LiveEvent::Changes(delivery) => {
                for change in &delivery.changes {
                    match (&change.found, &mut self.count) {
                        (Some(_), Some(count)) => *count += 1,
                        (None, Some(count)) => *count -= 1,
                        (Some(found), None) => drop(self.state.insert(change.key.clone(), found.clone())),
                        (None, None) => drop(self.state.remove(&change.key)),
                    }
                }
                self.token.clone_from(&delivery.token);
            }
            LiveEvent::Ended(why) => panic!("{}: {why}", self.read),
        }
    }

    /// Consumes events until the state equals the answer of the read, and for a short time after that.
    async fn is_right(&mut self, runner: &Runner, when: &str) {
        let begun = tokio::time::Instant::now();
        loop {
            let is_right = self.is_now_right(runner).await;
            match tokio::time::timeout(Duration::from_millis(40), self.stream.next()).await {
                Ok(event) => self.fold(event.expect("it does not end")),
                Err(_) if is_right => return,
                Err(_) => assert!(
                    begun.elapsed() < Duration::from_secs(20),
                    "{when}: {} has {:?} {:?}, the read says {:?}",
                    self.read,
                    self.state,
                    self.count,
                    runner.read(self.read, &self.call).await
                ),
            }
        }
    }

    async fn is_now_right(&self, runner: &Runner) -> bool {
        let texts = |found: &[&Found]| {
            let mut texts: Vec<String> =
                found.iter().map(|found| format!("{:?}", keyform::Attributes::from(found.fields.clone()))).collect();
            texts.sort();
            texts
        };
        let mine = texts(&self.state.values().collect::<Vec<_>>());
        match runner.read(self.read, &self.call).await.unwrap() {
            Answer::Count(count) => self.count == i64::try_from(count).ok(),
            Answer::One(found) => mine == texts(&found.iter().collect::<Vec<_>>()),
            Answer::Page { items, .. } => mine == texts(&items.iter().collect::<Vec<_>>()),
            other => panic!("{other:?}"),
        }
    }
}

/// The old application, the new one and the migration write in turn; followers join before, between, and again.
struct Story {
    new_model: String,
    reads: &'static [(&'static str, &'static [(&'static str, &'static str)])],
    /// Name of the text field in the new form.
    words: &'static str,
    /// Arguments of `forget` for note `n2`.
    forget: &'static [(&'static str, &'static str)],
}

async fn tell(store: &Store, story: &Story) {
    let stage = stage();
    let old = runner(OLD, &store.execute, &stage);
    old.create_tables().await.unwrap();
    for (note, user) in [("n1", "ada"), ("n2", "ada"), ("n3", "bob"), ("n4", "ada"), ("n5", "ada")] {
        write(&old, "write", &[("noteId", note), ("userId", user), ("words", "as it was")]).await;
    }
    let new = runner(&story.new_model, &store.execute, &stage);
    new.create_tables().await.unwrap();
    let live = Live::new(LiveSettings { poll: Duration::from_millis(20), ..LiveSettings::default() });
    let mut followers = Vec::new();
    for (read, arguments) in story.reads {
        followers.push(Follower::new(&live, &new, read, arguments).await);
    }
    let name = store.name;
    rest(&mut followers, &new, &format!("{name}, in the beginning")).await;
    write(&old, "write", &[("noteId", "n1"), ("userId", "ada"), ("words", "by the old one")]).await;
    write(&old, "write", &[("noteId", "n6"), ("userId", "ada"), ("words", "added by the old one")]).await;
    write(&old, "forget", &[("noteId", "n5")]).await;
    rest(&mut followers, &new, &format!("{name}, after the old application")).await;
    write(&new, "write", &[("noteId", "n4"), ("userId", "ada"), (story.words, "by the new one")]).await;
    write(&new, "write", &[("noteId", "n7"), ("userId", "ada"), (story.words, "added by the new one")]).await;
    write(&new, "forget", story.forget).await;
    rest(&mut followers, &new, &format!("{name}, after the new application")).await;
    for follower in &mut followers {
        follower.comes_back(&live, &new).await;
    }
    for (read, arguments) in story.reads {
        followers.push(Follower::new(&live, &new, read, arguments).await);
    }
    let variables = settings(&stage).variables;
    let migration = Migration::new(new.shared_model().clone(), store.execute.clone(), Arc::new(SystemWorld), variables);
    let (migration, pace) = (migration.unwrap(), Pace::default());
    assert!(migration.run(&pace, &|_| {}).await.unwrap().stuck.is_empty());
    rest(&mut followers, &new, &format!("{name}, after the run")).await;
    migration.without_waiting().roll_back(&pace, &|_| {}).await.unwrap();
    rest(&mut followers, &new, &format!("{name}, after the way back")).await;
    migration.run(&pace, &|_| {}).await.unwrap();
    migration.cut_over(&pace, &|_| {}).await.unwrap();
    write(&new, "write", &[("noteId", "n8"), ("userId", "ada"), (story.words, "in the end")]).await;
    rest(&mut followers, &new, &format!("{name}, in the end")).await;
    // An instance that starts now knows only one form; it accepts older tokens or answers with a page.
    let after = runner(&story.new_model, &store.execute, &stage);
    for follower in &mut followers {
        follower.comes_back(&live, &after).await;
    }
    rest(&mut followers, &after, &format!("{name}, back after the end")).await;
}

async fn rest(followers: &mut [Follower], runner: &Runner, when: &str) {
    for follower in followers {
        follower.is_right(runner, when).await;
    }
}

async fn tell_on_every_store(story: Story) {
    for store in Store::all().await {
        tell(&store, &story).await;
        store.stop();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_stay_are_followed_in_their_new_form() {
    let reads: &[(&str, &[(&str, &str)])] =
        &[("note", &[("noteId", "n1")]), ("notes", &[]), ("openNotes", &[]), ("noteCount", &[])];
    tell_on_every_store(Story { new_model: RENAMED.to_owned(), reads, words: "text", forget: &[("noteId", "n2")] })
        .await;
}

fn moved(table: &str, name: &str) -> Story {
    Story {
        new_model: MOVED.replace("TABLE\n", table).replace("NEW", name),
        reads: &[
            ("note", &[("userId", "ada"), ("noteId", "n1")]),
            ("notes", &[("userId", "ada")]),
            ("notes", &[("userId", "bob")]),
            ("noteCount", &[("userId", "ada")]),
        ],
        words: "words",
        forget: &[("userId", "ada"), ("noteId", "n2")],
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_get_another_key_are_followed_to_their_new_place() {
    tell_on_every_store(moved("", "Old")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_that_move_to_another_table_are_followed_there() {
    let table = "table New \"new-{stage}\" {\n  key    pk, sk\n  stream new_and_old\n}\n";
    tell_on_every_store(moved(table, "New")).await;
}

#[tokio::test]
async fn a_table_to_move_from_without_a_stream_is_named() {
    let store: Arc<dyn Execute> = Arc::new(keyform::Database::in_memory());
    let without = |text: &str| text.replacen("  stream new_and_old\n", "", 1);
    runner(&without(OLD), &store, "bare").create_tables().await.unwrap();
    let table = "table New \"new-{stage}\" {\n  key    pk, sk\n  stream new_and_old\n}\n";
    let new = runner(&without(&moved(table, "New").new_model), &store, "bare");
    new.create_tables().await.unwrap();
    let refused = Live::default().read(&new, "notes", call(&[("userId", "ada")]), None).await;
    let error = refused.map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("old-bare"), "{error}");
}
