//! Cascading deletes: the whole tree is removed and nothing else, on every store, also when the process stops after any
//! request.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use keyform::execute::BoxFuture;
use keyform::flow::Tables;
use keyform::operation::DeleteTable;
use keyform::server::{Models, Served};
use keyform::{
    AttributeValue, Attributes, Database, Error, Execute, ExecuteExt, Operation, Output, SystemWorld, World as _,
};
use keyform_check::Checked;
use keyform_language::bookkeeping::CASCADES;
use keyform_runtime::run::{Answer, Call, Resumed, RunError, RunSettings, Runner};
use keyform_scenario::fault::Mortal;
use keyform_scenario::{Clock, Store, contents, stage};

const MODEL: &str = include_str!("../cascades.kf");
/// Longer than the lease of an intent, and than the lag of an index.
const LONG: Duration = Duration::from_secs(60);

/// Model on a store, with short helpers for calls.
struct Planner {
    runner: Runner,
    clock: Clock,
    store: Arc<dyn Execute>,
    stage: String,
}

impl Planner {
    fn on(store: Arc<dyn Execute>, stage: &str, clock: &Clock, without_transactions: bool) -> Self {
        let checked = Checked::read(MODEL);
        assert!(!checked.has_errors() && !checked.has_warnings(), "{:#?}", checked.diagnostics);
        let variables = [("stage".to_owned(), stage.to_owned())].into();
        let settings = RunSettings { variables, without_transactions, ..RunSettings::default() };
        let runner = Runner::new(Arc::new(checked), store.clone(), Arc::new(clock.clone()), settings).unwrap();
        Self { runner, clock: clock.clone(), store, stage: stage.to_owned() }
    }

    async fn made_on(store: Arc<dyn Execute>) -> Self {
        // A stage of its own, because tests share some stores.
        let planner = Self::on(store, &stage(), &Clock::new(), false);
        planner.runner.create_tables().await.unwrap();
        planner
    }

    async fn embedded() -> Self {
        Self::made_on(Arc::new(Database::in_memory())).await
    }

    /// Creates another process that uses the same tables through another store handle.
    fn through(&self, store: Arc<dyn Execute>) -> Self {
        Self::on(store, &self.stage, &self.clock, false)
    }

    async fn try_call(&self, name: &str, arguments: &[(&str, &str)]) -> Result<Option<Attributes>, RunError> {
        let value = |(name, value): &(&str, &str)| ((*name).to_owned(), AttributeValue::from(*value));
        let call = Call { arguments: arguments.iter().map(value).collect(), ..Call::default() };
        Ok(self.runner.write(name, &call).await?.map(|found| found.fields.into()))
    }

    async fn call(&self, name: &str, arguments: &[(&str, &str)]) -> Attributes {
        self.try_call(name, arguments).await.unwrap_or_else(|error| panic!("{name}: {error}")).unwrap_or_default()
    }

    /// Creates an item and returns its id.
    async fn make(&self, name: &str, arguments: &[(&str, &str)], id: &str) -> String {
        match &self.call(name, arguments).await[id] {
            AttributeValue::S(id) => id.clone(),
            other => panic!("{other:?}"),
        }
    }

    async fn count(&self, read: &str, arguments: &[(&str, &str)]) -> usize {
        let value = |(name, value): &(&str, &str)| ((*name).to_owned(), AttributeValue::from(*value));
        let call = Call { arguments: arguments.iter().map(value).collect(), ..Call::default() };
        match self.runner.read(read, &call).await.unwrap() {
            Answer::Page { items, .. } => items.len(),
            Answer::One(found) => usize::from(found.is_some()),
            other => panic!("{other:?}"),
        }
    }

    /// Returns all items of a table, by key.
    async fn table(&self, name: &str) -> BTreeMap<String, Attributes> {
        let items = contents(&*self.store, &format!("{name}-{}", self.stage)).await;
        items.into_iter().map(|item| (format!("{:?}", (&item["pk"], &item["sk"])), item)).collect()
    }

    /// Returns the number of intents of this stage.
    async fn intents(&self) -> usize {
        let its = format!("planner#plan-{}", self.stage);
        let ledger = format!("planner#ledger-{}", self.stage);
        let is_its = |item: &&Attributes| item["pk"] == its.as_str().into() || item["pk"] == ledger.as_str().into();
        contents(&*self.store, CASCADES).await.iter().filter(is_its).count()
    }

    /// Advances the clock and resumes cascades until no intent is left.
    async fn settle(&self) {
        for _ in 0..10 {
            if self.intents().await == 0 {
                return;
            }
            self.clock.advance(LONG);
            self.runner.resume_cascades().await.unwrap();
        }
        panic!("{} intents stay", self.intents().await);
    }

    /// Creates a group with projects, tasks, members and notes; `each` of them per project.
    async fn group(&self, name: &str, projects: usize, each: usize) -> Tree {
        let group = self.make("makeGroup", &[("name", name)], "groupId").await;
        let mut made = Vec::new();
        for number in 0..projects {
            let project = self.make("makeProject", &[("groupId", &group), ("title", "a project")], "projectId").await;
            for task in 0..each {
                let code = format!("{name}-{number}-{task}");
                let arguments = [("projectId", &*project), ("groupId", &group), ("code", &code)];
                self.call("makeTask", &arguments).await;
                self.call("makeNote", &[("noteId", &code), ("projectId", &project)]).await;
            }
            made.push(project);
        }
        for number in 0..each {
            let user = format!("user-{number}");
            self.call("join", &[("userId", &user), ("groupId", &group)]).await;
        }
        self.call("makeRecord", &[("groupId", &group)]).await;
        Tree { group, projects: made }
    }
}

struct Tree {
    group: String,
    projects: Vec<String>,
}

#[tokio::test]
async fn a_tree_of_three_levels_goes_with_its_root_and_nothing_else() {
    for store in Store::all().await {
        let planner = Planner::made_on(store.caught_up()).await;
        planner.group("kept", 2, 3).await;
        let before = planner.table("plan").await;
        let tree = planner.group("gone", 104, 1).await;
        for number in 0..105 {
            let code = format!("many-{number}");
            let arguments = [("projectId", &*tree.projects[0]), ("groupId", &tree.group), ("code", &code)];
            planner.call("makeTask", &arguments).await;
            planner.call("join", &[("userId", &code), ("groupId", &tree.group)]).await;
        }
        let records = planner.table("ledger").await;
        let deleted = planner.call("deleteGroup", &[("groupId", &tree.group)]).await;
        assert_eq!(deleted["name"], "gone".into(), "{}", store.name);
        assert_eq!(planner.table("plan").await, before, "{}", store.name);
        assert_eq!(planner.table("ledger").await, records, "{}: what is kept stays", store.name);
        planner.settle().await;
        assert_eq!(planner.table("plan").await, before, "{}", store.name);
        store.stop();
    }
}

#[tokio::test]
async fn unique_values_are_free_again() {
    for store in Store::all().await {
        let planner = Planner::made_on(store.caught_up()).await;
        let other = planner.group("other", 1, 0).await;
        let tree = planner.group("gone", 1, 2).await;
        let again = [("projectId", &*other.projects[0]), ("groupId", &other.group), ("code", "gone-0-1")];
        let taken = planner.try_call("makeTask", &again).await.unwrap_err();
        assert_eq!(taken, RunError::Refused { outcome: "CodeTaken".to_owned(), item: None });
        planner.call("deleteProject", &[("groupId", &tree.group), ("projectId", &tree.projects[0])]).await;
        planner.call("makeTask", &again).await;
        store.stop();
    }
}

/// The unique value of an expired child may belong to another item by now, so deleting the child must not release it.
#[tokio::test]
async fn what_has_expired_frees_nothing() {
    let planner = Planner::embedded().await;
    let [gone, other] = [planner.group("gone", 1, 0).await, planner.group("other", 1, 0).await];
    let soon = planner.clock.now_millis() / 1000 + 5;
    let mut call = Call::default();
    for (name, value) in [("projectId", &gone.projects[0]), ("groupId", &gone.group)] {
        call.arguments.insert(name.to_owned(), value.as_str().into());
    }
    call.arguments.insert("code".to_owned(), "one".into());
    call.arguments.insert("ends".to_owned(), soon.into());
    planner.runner.write("makeTaskUntil", &call).await.unwrap();
    planner.clock.advance(Duration::from_secs(10));
    let claim = [("projectId", &*other.projects[0]), ("groupId", &other.group), ("code", "one")];
    planner.call("makeTask", &claim).await;
    planner.call("deleteGroup", &[("groupId", &gone.group)]).await;
    assert!(planner.try_call("makeTask", &claim).await.is_err(), "the value is still the other's");
}

/// The process ends after each request of a delete in turn; another one resumes the cascade.
#[tokio::test]
async fn stopped_after_any_request_it_ends_alike() {
    let mut stops = 0;
    for requests in 0.. {
        let planner = Planner::embedded().await;
        planner.group("kept", 1, 2).await;
        let kept = planner.table("plan").await;
        let tree = planner.group("gone", 2, 2).await;
        let whole = planner.table("plan").await;
        let mortal = Arc::new(Mortal::new(planner.store.clone(), requests));
        let dying = planner.through(mortal.clone());
        let answer = dying.try_call("deleteGroup", &[("groupId", &tree.group)]).await;
        let is_applied = planner.count("groupById", &[("groupId", &tree.group)]).await == 0;
        assert!(is_applied || answer.is_err(), "after {requests} requests");
        planner.settle().await;
        let expected = if is_applied { &kept } else { &whole };
        assert_eq!(planner.table("plan").await, *expected, "after {requests} requests");
        if !mortal.is_dead() {
            break;
        }
        stops += 1;
    }
    assert!(stops > 15, "{stops} stops");
}

/// The resuming process may be interrupted as well, repeatedly.
#[tokio::test]
async fn a_chain_of_processes_that_end_soon_comes_to_the_end() {
    let planner = Planner::embedded().await;
    planner.group("kept", 1, 2).await;
    let kept = planner.table("plan").await;
    let tree = planner.group("gone", 3, 3).await;
    let dying = planner.through(Arc::new(Mortal::new(planner.store.clone(), 3)));
    drop(dying.try_call("deleteGroup", &[("groupId", &tree.group)]).await);
    for requests in (5..9).cycle().take(200) {
        planner.clock.advance(LONG);
        let dying = planner.through(Arc::new(Mortal::new(planner.store.clone(), requests)));
        if dying.runner.resume_cascades().await.is_ok() && planner.intents().await == 0 {
            break;
        }
    }
    planner.settle().await;
    assert_eq!(planner.table("plan").await, kept);
}

#[tokio::test]
async fn several_that_resume_at_once_do_no_harm() {
    for store in Store::all().await {
        let planner = Planner::made_on(store.caught_up()).await;
        planner.group("kept", 1, 2).await;
        let kept = planner.table("plan").await;
        for name in ["one", "two", "three"] {
            let tree = planner.group(name, 3, 4).await;
            let dying = planner.through(Arc::new(Mortal::new(planner.store.clone(), 4)));
            drop(dying.try_call("deleteGroup", &[("groupId", &tree.group)]).await);
        }
        assert!(planner.intents().await > 0, "{}", store.name);
        planner.clock.advance(LONG);
        let others = [planner.through(planner.store.clone()), planner.through(planner.store.clone())];
        let (one, two) = tokio::join!(others[0].runner.resume_cascades(), others[1].runner.resume_cascades());
        let (one, two) = (one.unwrap(), two.unwrap());
        assert!(one.removed + two.removed > 0, "{}: {one:?} {two:?}", store.name);
        planner.settle().await;
        assert_eq!(planner.table("plan").await, kept, "{}", store.name);
        store.stop();
    }
}

/// A process ended long ago; a starting server resumes its cascade.
#[tokio::test]
async fn a_server_takes_up_what_is_left() {
    let planner = Planner::embedded().await;
    planner.clock.set_millis(SystemWorld.now_millis() - 10 * 60_000);
    planner.group("kept", 1, 2).await;
    let kept = planner.table("plan").await;
    let tree = planner.group("gone", 2, 2).await;
    let dying = planner.through(Arc::new(Mortal::new(planner.store.clone(), 4)));
    drop(dying.try_call("deleteGroup", &[("groupId", &tree.group)]).await);
    assert!(planner.table("plan").await.len() > kept.len());
    let models = Models::default();
    let settings =
        RunSettings { variables: [("stage".to_owned(), planner.stage.clone())].into(), ..RunSettings::default() };
    let checked = Arc::new(Checked::read(MODEL));
    let runner = Runner::new(checked, planner.store.clone(), Arc::new(SystemWorld), settings).unwrap();
    models.put(Served::new(runner, Tables::Expected));
    let settings = keyform::server::ServerSettings { port: 0, models, ..keyform::server::ServerSettings::default() };
    let running = keyform::serve_models(settings, planner.store.clone()).unwrap();
    let watch = planner.store.watch().unwrap();
    loop {
        let since = watch.latest();
        if planner.intents().await == 0 {
            break;
        }
        watch.changed(since).await;
    }
    assert_eq!(planner.table("plan").await, kept);
    running.stop();
}

#[tokio::test]
async fn while_somebody_is_at_work_others_wait() {
    let planner = Planner::embedded().await;
    let tree = planner.group("gone", 1, 2).await;
    let dying = planner.through(Arc::new(Mortal::new(planner.store.clone(), 3)));
    drop(dying.try_call("deleteGroup", &[("groupId", &tree.group)]).await);
    let waiting = planner.runner.resume_cascades().await.unwrap();
    assert_eq!(waiting, Resumed { waiting: 1, ..Resumed::default() });
    planner.clock.advance(LONG);
    assert_eq!(planner.runner.resume_cascades().await.unwrap().finished, 1);
}

/// Store whose indexes, on request, hide new items or keep showing old ones.
struct Lagging {
    store: Arc<dyn Execute>,
    hides: AtomicBool,
    /// Runs once, right after a Query of an index was answered.
    then: tokio::sync::Mutex<Vec<Operation>>,
    queries: AtomicUsize,
}

impl Lagging {
    fn new(store: Arc<dyn Execute>) -> Arc<Self> {
        Arc::new(Self { store, hides: AtomicBool::new(false), then: Default::default(), queries: AtomicUsize::new(0) })
    }
}

impl Execute for Lagging {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move {
            let of_index = matches!(&operation, Operation::Query(query) if query.index.is_some());
            let mut answer = self.store.execute(operation).await;
            if let (true, Ok(Output::Query(page))) = (of_index, &mut answer) {
                self.queries.fetch_add(1, Ordering::SeqCst);
                if self.hides.load(Ordering::SeqCst) {
                    page.items = Some(Vec::new());
                    page.last_key = None;
                }
                for operation in self.then.lock().await.drain(..) {
                    self.store.execute(operation).await.unwrap();
                }
            }
            answer
        })
    }
}

#[tokio::test]
async fn what_an_index_shows_later_goes_later() {
    let planner = Planner::embedded().await;
    planner.group("kept", 1, 2).await;
    let kept = planner.table("plan").await;
    let lagging = Lagging::new(planner.store.clone());
    let slow = planner.through(lagging.clone());
    let tree = slow.group("gone", 2, 2).await;
    lagging.hides.store(true, Ordering::SeqCst);
    slow.call("deleteGroup", &[("groupId", &tree.group)]).await;
    // Two members and four notes.
    assert_eq!(planner.table("plan").await.len(), kept.len() + 6);
    assert_eq!(planner.intents().await, 3, "of the group and of each project");
    lagging.hides.store(false, Ordering::SeqCst);
    assert_eq!(slow.runner.resume_cascades().await.unwrap().removed, 0, "it is too early");
    planner.clock.advance(LONG);
    assert_eq!(slow.runner.resume_cascades().await.unwrap().removed, 6);
    assert_eq!(planner.table("plan").await, kept);
    assert_eq!(planner.intents().await, 3, "there could be more");
    planner.clock.advance(LONG);
    assert_eq!(slow.runner.resume_cascades().await.unwrap().finished, 3);
}

/// A note moves to another project after the index returned it and before it is deleted.
#[tokio::test]
async fn what_has_moved_to_another_parent_stays() {
    let planner = Planner::embedded().await;
    let other = planner.group("other", 1, 0).await;
    let tree = planner.group("gone", 1, 3).await;
    let lagging = Lagging::new(planner.store.clone());
    let slow = planner.through(lagging.clone());
    // The request that the move would send.
    let mut moved =
        planner.table("plan").await.into_values().find(|item| item["pk"] == "NOTE#gone-0-1".into()).unwrap();
    moved.insert("projectId".to_owned(), other.projects[0].as_str().into());
    moved.insert("userPk".to_owned(), format!("NOTES#{}", other.projects[0]).into());
    let put = keyform::operation::PutItem {
        table: format!("plan-{}", planner.stage),
        item: moved,
        ..keyform::operation::PutItem::default()
    };
    lagging.then.lock().await.push(Operation::PutItem(put));
    slow.call("deleteProject", &[("groupId", &tree.group), ("projectId", &tree.projects[0])]).await;
    assert_eq!(planner.count("notes", &[("projectId", &tree.projects[0])]).await, 0);
    assert_eq!(planner.count("notes", &[("projectId", &other.projects[0])]).await, 1);
}

#[tokio::test]
async fn refs_to_other_fields_than_the_key_cascade_too() {
    for store in Store::all().await {
        let planner = Planner::made_on(store.caught_up()).await;
        planner.call("makePerson", &[("name", "ada"), ("nick", "countess")]).await;
        planner.call("makeBadge", &[("nick", "countess"), ("badgeId", "one")]).await;
        planner.call("makeBadge", &[("nick", "another"), ("badgeId", "two")]).await;
        planner.call("deletePerson", &[("name", "ada"), ("nickWas", "countess")]).await;
        assert_eq!(planner.count("badges", &[("nick", "countess")]).await, 0, "{}", store.name);
        assert_eq!(planner.count("badges", &[("nick", "another")]).await, 1, "{}", store.name);
        store.stop();
    }
}

/// A name is reused before the old person's badges are deleted: the badges then belong to the new person.
#[tokio::test]
async fn the_children_of_a_new_item_with_the_same_key_stay() {
    for requests in 0.. {
        let planner = Planner::embedded().await;
        let ada = [("name", "ada"), ("nick", "countess")];
        planner.call("makePerson", &ada).await;
        for badge in ["one", "two"] {
            planner.call("makeBadge", &[("nick", "countess"), ("badgeId", badge)]).await;
        }
        let mortal = Arc::new(Mortal::new(planner.store.clone(), requests));
        let dying = planner.through(mortal.clone());
        drop(dying.try_call("deletePerson", &[("name", "ada"), ("nickWas", "countess")]).await);
        if planner.count("person", &[("name", "ada")]).await == 0 {
            planner.call("makePerson", &ada).await;
        }
        planner.call("makeBadge", &[("nick", "countess"), ("badgeId", "three")]).await;
        let before = planner.count("badges", &[("nick", "countess")]).await;
        planner.settle().await;
        assert_eq!(planner.count("badges", &[("nick", "countess")]).await, before, "after {requests} requests");
        if !mortal.is_dead() {
            break;
        }
    }
}

#[tokio::test]
async fn an_item_that_refers_by_restrict_refuses() {
    for store in Store::all().await {
        let planner = Planner::made_on(store.caught_up()).await;
        planner.call("makePerson", &[("name", "ada"), ("nick", "countess")]).await;
        planner.call("makeBadge", &[("nick", "countess"), ("badgeId", "one")]).await;
        for contract in ["c1", "c2"] {
            planner.call("makeContract", &[("name", "ada"), ("contractId", contract)]).await;
        }
        let refused = |outcome: &str| RunError::Refused { outcome: outcome.to_owned(), item: None };
        let delete = [("name", "ada"), ("nickWas", "countess")];
        assert_eq!(planner.try_call("deletePerson", &delete).await, Err(refused("ContractRemains")), "{}", store.name);
        // The model's own outcome takes precedence, because it is more specific.
        let wrong = planner.try_call("deletePerson", &[("name", "ada"), ("nickWas", "count")]).await;
        assert!(matches!(wrong, Err(RunError::Refused { outcome, .. }) if outcome == "OtherNick"), "{}", store.name);
        let both = planner.try_call("deletePersonWith", &[("name", "ada"), ("contractId", "c1")]).await;
        assert_eq!(both, Err(refused("ContractRemains")), "{}: one more is there", store.name);
        assert_eq!(planner.count("badges", &[("nick", "countess")]).await, 1, "{}", store.name);
        planner.call("endContract", &[("name", "ada"), ("contractId", "c2")]).await;
        planner.call("deletePersonWith", &[("name", "ada"), ("contractId", "c1")]).await;
        assert_eq!(planner.count("badges", &[("nick", "countess")]).await, 0, "{}", store.name);
        store.stop();
    }
}

/// Replies to replies, at any depth, also in a cycle.
#[tokio::test]
async fn an_entity_may_refer_to_itself() {
    let planner = Planner::embedded().await;
    planner.call("reply", &[("parentId", "root"), ("postId", "p0")]).await;
    for number in 0..30 {
        for branch in ["", "x"] {
            let (parent, post) = (format!("p{number}"), format!("p{}{branch}", number + 1));
            planner.call("reply", &[("parentId", &parent), ("postId", &post)]).await;
        }
    }
    planner.call("reply", &[("parentId", "other"), ("postId", "stays")]).await;
    planner.call("deletePost", &[("parentId", "root"), ("postId", "p0")]).await;
    assert_eq!(planner.table("ledger").await.len(), 2, "one and its sentinel");
    planner.call("reply", &[("parentId", "here"), ("postId", "there")]).await;
    planner.call("reply", &[("parentId", "there"), ("postId", "here")]).await;
    planner.call("deletePost", &[("parentId", "here"), ("postId", "there")]).await;
    assert_eq!(planner.table("ledger").await.len(), 2, "a circle ends");
}

#[tokio::test]
async fn a_batch_cascades() {
    let planner = Planner::embedded().await;
    planner.group("kept", 1, 2).await;
    let kept = planner.table("plan").await;
    let trees = [planner.group("one", 1, 2).await, planner.group("two", 2, 1).await];
    let ids = AttributeValue::L(trees.iter().map(|tree| tree.group.as_str().into()).collect());
    let call = Call { arguments: [("groupIds".to_owned(), ids)].into(), ..Call::default() };
    planner.runner.write("deleteGroups", &call).await.unwrap();
    assert_eq!(planner.table("plan").await, kept);
    assert_eq!(planner.intents().await, 0);
}

/// On a store without transactions the intent is written first, and withdrawn if the delete is refused.
#[tokio::test]
async fn without_transactions_the_intent_comes_first() {
    for requests in 0.. {
        let planner = Planner::embedded().await;
        for shelf in ["gone", "kept"] {
            planner.call("makeShelf", &[("shelf", shelf)]).await;
            for jar in ["plums", "pears"] {
                planner.call("fill", &[("shelf", shelf), ("jar", jar)]).await;
            }
        }
        let mortal = Arc::new(Mortal::new(planner.store.clone(), requests));
        let plain = Planner::on(mortal.clone(), &planner.stage, &planner.clock, true);
        drop(plain.try_call("deleteShelf", &[("shelf", "gone")]).await);
        let is_there = planner.count("shelfByName", &[("shelf", "gone")]).await;
        Planner::on(planner.store.clone(), &planner.stage, &planner.clock, true).settle().await;
        assert_eq!(planner.count("jars", &[("shelf", "gone")]).await, 2 * is_there, "after {requests} requests");
        assert_eq!(planner.count("jars", &[("shelf", "kept")]).await, 2, "after {requests} requests");
        let absent = Planner::on(planner.store.clone(), &planner.stage, &planner.clock, true);
        let refused = absent.try_call("deleteShelf", &[("shelf", "nowhere")]).await;
        assert!(matches!(refused, Err(RunError::Refused { outcome, .. }) if outcome == "Closed"));
        assert_eq!(planner.intents().await, 0, "a refused delete intends nothing");
        if !mortal.is_dead() {
            break;
        }
    }
}

#[tokio::test]
async fn without_transactions_unique_values_cannot_go() {
    let planner = Planner::embedded().await;
    let tree = planner.group("gone", 1, 1).await;
    let plain = Planner::on(planner.store.clone(), &planner.stage, &planner.clock, true);
    // Tasks have unique codes, which need transactions.
    let refused = plain.try_call("deleteGroup", &[("groupId", &tree.group)]).await;
    assert!(matches!(&refused, Err(RunError::NotRunnable(why)) if why.contains("Task")), "{refused:?}");
    assert!(plain.runner.not_runnable().iter().any(|(write, _)| *write == "deleteGroup"));
}

#[tokio::test]
async fn without_the_table_of_intents_nothing_is_deleted() {
    let planner = Planner::embedded().await;
    let tree = planner.group("stays", 1, 1).await;
    planner.store.call(DeleteTable { table: CASCADES.to_owned() }).await.unwrap();
    let refused = planner.try_call("deleteGroup", &[("groupId", &tree.group)]).await;
    assert!(matches!(&refused, Err(RunError::NotRunnable(why)) if why.contains(CASCADES)), "{refused:?}");
    assert_eq!(planner.count("groupById", &[("groupId", &tree.group)]).await, 1);
    assert_eq!(planner.runner.missing_tables().await.unwrap(), [CASCADES]);
    assert_eq!(planner.runner.resume_cascades().await.unwrap(), Resumed::default());
}
