//! A refused write includes the conflicting item only if the caller may read that item through the model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use keyform::SystemWorld;
use keyform::execute::BoxFuture;
use keyform::{AttributeValue, Attributes, Database, Error, Execute, Operation, Output};
use keyform_check::Checked;
use keyform_prove::prove;
use keyform_runtime::run::{Call, Caller, Found, RunError, RunSettings, Runner, json};

/// Store that counts requests.
struct Counted {
    database: Database,
    requests: Arc<AtomicUsize>,
}

impl Execute for Counted {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        Box::pin(self.database.execute(operation))
    }
}

struct World {
    runner: Runner,
    requests: Arc<AtomicUsize>,
}

fn checked() -> Checked {
    let checked = Checked::read(include_str!("../refusals.kf"));
    assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
    checked
}

fn pairs(pairs: &[(&str, &str)]) -> Attributes {
    let value = |text: &str| match text.parse::<i64>() {
        Ok(number) => AttributeValue::N(number.into()),
        Err(_) => text.into(),
    };
    pairs.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect()
}

fn named(user: &str) -> Caller {
    let claims = [("userId".to_owned(), user.into()), ("admin".to_owned(), AttributeValue::Bool(user == "root"))];
    Caller::Claims(claims.into())
}

impl World {
    async fn new() -> Self {
        let requests = Arc::new(AtomicUsize::new(0));
        let store = Arc::new(Counted { database: Database::in_memory(), requests: requests.clone() });
        let runner = Runner::new(Arc::new(checked()), store, Arc::new(SystemWorld), RunSettings::default()).unwrap();
        runner.create_tables().await.unwrap();
        Self { runner, requests }
    }

    async fn write(&self, caller: Caller, name: &str, arguments: &[(&str, &str)]) -> Result<Option<Found>, RunError> {
        let call = Call { arguments: pairs(arguments), caller, ..Call::default() };
        self.runner.write(name, &call).await
    }

    async fn done(&self, user: &str, name: &str, arguments: &[(&str, &str)]) {
        self.write(named(user), name, arguments).await.unwrap();
    }

    /// Returns the outcome of a refused write, and the item that callers see.
    async fn refusal(&self, caller: Caller, name: &str, arguments: &[(&str, &str)]) -> (String, Option<String>) {
        let (outcome, item) = match self.write(caller, name, arguments).await.unwrap_err() {
            RunError::Refused { outcome, item } => (outcome, item),
            RunError::Conflict(item) => ("Conflict".to_owned(), item),
            other => panic!("{other}"),
        };
        (outcome, item.map(|item| json::found(&self.runner.checked().model, &item).to_string()))
    }
}

async fn check(world: &World, user: &str, write: &str, arguments: &[(&str, &str)], expected: (&str, Option<&str>)) {
    let (outcome, item) = world.refusal(named(user), write, arguments).await;
    assert_eq!(outcome, expected.0, "{user}: {write}");
    match expected.1 {
        None => assert_eq!(item, None, "{user}: {write}"),
        Some(part) => assert!(item.as_ref().is_some_and(|item| item.contains(part)), "{user}: {write}: {item:?}"),
    }
}

#[tokio::test]
async fn item_of_another_is_left_out_and_an_own_one_is_shown() {
    let world = World::new().await;
    let note = [("noteId", "n1"), ("text", "my diary"), ("pin", "x4711")];
    world.done("ada", "addNote", &note).await;
    check(&world, "eve", "removeNote", &[("noteId", "n1")], ("NotYours", None)).await;
    check(&world, "eve", "addNote", &note, ("Exists", None)).await;
    let edit = [("noteId", "n1"), ("text", "changed"), ("expected", "7")];
    check(&world, "eve", "editNote", &edit, ("Changed", None)).await;
    check(&world, "ada", "editNote", &edit, ("Changed", Some("my diary"))).await;
    check(&world, "ada", "addNote", &note, ("Exists", Some("my diary"))).await;
    check(&world, "root", "removeNote", &[("noteId", "n1")], ("NotYours", Some("my diary"))).await;
}

#[tokio::test]
async fn code_in_process_sees_every_item() {
    let world = World::new().await;
    world.done("ada", "takeLock", &[("lockId", "l1")]).await;
    check(&world, "ada", "takeLock", &[("lockId", "l1")], ("Taken", None)).await;
    world.done("ada", "addTicket", &[("ticketId", "t1"), ("code", "opensesame")]).await;
    world.done("ada", "useTicket", &[("ticketId", "t1")]).await;
    let (outcome, item) = world.refusal(Caller::System, "useTicket", &[("ticketId", "t1")]).await;
    assert_eq!(outcome, "Used");
    assert!(item.unwrap().contains("opensesame"));
}

#[tokio::test]
async fn what_everyone_may_read_is_shown_without_its_secrets() {
    let world = World::new().await;
    let poster = [("posterId", "p1"), ("title", "Concert"), ("pin", "x4711")];
    world.done("ada", "addPoster", &poster).await;
    check(&world, "eve", "addPoster", &poster, ("Exists", Some("Concert"))).await;
    let (_, item) = world.refusal(named("eve"), "addPoster", &poster).await;
    assert!(!item.unwrap().contains("x4711"));
}

#[tokio::test]
async fn item_that_a_read_shows_in_part_is_left_out() {
    let world = World::new().await;
    let profile = [("profileId", "p1"), ("name", "Ada"), ("phone", "secret number")];
    world.done("ada", "addProfile", &profile).await;
    check(&world, "eve", "addProfile", &profile, ("Exists", None)).await;
}

#[tokio::test]
async fn refusal_does_not_hand_out_the_code_that_a_public_read_asks_for() {
    let world = World::new().await;
    world.done("ada", "addTicket", &[("ticketId", "t1"), ("code", "opensesame")]).await;
    world.done("ada", "useTicket", &[("ticketId", "t1")]).await;
    check(&world, "eve", "useTicket", &[("ticketId", "t1")], ("Used", None)).await;
    let known = [("ticketId", "t1"), ("given", "opensesame")];
    check(&world, "eve", "redeem", &known, ("Used", Some("opensesame"))).await;
    check(&world, "eve", "addTicket", &[("ticketId", "t1"), ("code", "other")], ("Exists", None)).await;
}

#[tokio::test]
async fn guard_that_let_a_write_in_shows_its_item_at_no_cost() {
    let world = World::new().await;
    world.done("root", "join", &[("teamId", "a"), ("userId", "ada")]).await;
    let task = [("teamId", "a"), ("taskId", "t1")];
    world.done("ada", "addTask", &task).await;
    let finish = [("teamId", "a"), ("taskId", "t1"), ("expected", "7")];
    world.requests.store(0, Ordering::Relaxed);
    check(&world, "ada", "finishTask", &finish, ("Changed", Some("\"done\":false"))).await;
    assert_eq!(world.requests.load(Ordering::Relaxed), 2, "the guard and the write");
    assert_eq!(world.write(named("eve"), "finishTask", &finish).await, Err(RunError::Forbidden));
    // A public write has not read the caller's membership, so it cannot know that she is a member.
    check(&world, "ada", "addTask", &task, ("Exists", None)).await;
    check(&world, "eve", "addTask", &task, ("Exists", None)).await;
}

/// The isolation trial covers the refusals of public writes.
#[test]
fn proof_of_isolation_finds_no_refusal_that_shows_the_other() {
    let proof = prove(&checked()).unwrap();
    let shown: Vec<String> =
        proof.leaks.iter().filter(|leak| leak.what.contains("shows")).map(ToString::to_string).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    let tried = proof.patterns.iter().find(|tried| tried.name == "removeNote").unwrap();
    assert!(tried.calls > 0, "public writes are called");
}
