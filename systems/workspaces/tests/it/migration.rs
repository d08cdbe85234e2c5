//! Migration from the form before workspaces while the system is served: readers and writers over HTTP, instances of
//! the old application, and a migration that is killed repeatedly. Nothing is lost, duplicated or resurrected, and no
//! answer is ever wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::Home;
use crate::support::http::{Client, Served};
use keyform::flow::TokenKeys;
use keyform::{Execute, Uuid};
use keyform_check::Checked;
use keyform_runtime::evolve::state::Phase;
use keyform_runtime::evolve::{MigrateError, Migration, Pace};
use keyform_scenario::fault::Mortal;
use keyform_scenario::{Dice, Scene, on_every_store};
use keyform_workspaces::legacy::data::{self, Amount, OldItem};
use keyform_workspaces::legacy::fill::fill;
use keyform_workspaces::legacy::model::{ItemHash, WorkspacesV1};
use keyform_workspaces::{legacy, old_link};
use serde_json::{Value, json};

const AMOUNT: Amount = Amount { items: 45, settings: 6, members: 4, seed: 3 };
const WRITERS: usize = 3;
const ROUNDS: usize = 14;

/// Expected title and status of an item; `None` after it was deleted.
type Expected = BTreeMap<String, Option<(String, String)>>;

fn items() -> Vec<OldItem> {
    (0..AMOUNT.items).map(|number| data::item(AMOUNT.seed, number, AMOUNT.items)).collect()
}

fn status(item: &OldItem) -> &'static str {
    if item.done_millis.is_some() { "done" } else { "open" }
}

fn id(item: &OldItem) -> String {
    old_link::item_id(&item.hash).to_string()
}

fn migration(home: &Home, store: Arc<dyn Execute>) -> Migration {
    let checked = Arc::new(Checked::read(keyform_workspaces::MODEL));
    let variables = [("stage".to_owned(), home.stage.clone())].into();
    Migration::new(checked, store, home.host.world(), variables).unwrap()
}

fn pace() -> Pace {
    // Killed processes are known to be gone, so take over their lease.
    Pace { at_once: 3, take_over: true, ..Pace::default() }
}

async fn item_now(client: &Client, id: &str) -> Option<Value> {
    let (code, item) = client.get(&format!("itemById?workspaceId={}&itemId={id}", legacy::home())).await;
    assert_eq!(code, 200, "{item}");
    (!item.is_null()).then_some(item)
}

/// Changes its own items, and knows the expected state before and after each change.
async fn write_for_a_while(client: Client, own: Vec<OldItem>, number: usize) -> Expected {
    let mut dice = Dice(number as u64);
    let mut expected: Expected =
        own.iter().map(|item| (id(item), Some((item.title.clone(), status(item).to_owned())))).collect();
    for round in 0..ROUNDS {
        let id = id(&own[dice.below(own.len())]);
        let before = item_now(&client, &id).await;
        let said = before.as_ref().map(|item| (item["title"].as_str().unwrap(), item["status"].as_str().unwrap()));
        let known = expected[&id].as_ref().map(|(title, status)| (title.as_str(), status.as_str()));
        assert_eq!(said, known, "{id} before round {round} of writer {number}");
        let mut body = json!({ "workspaceId": legacy::home().as_str(), "itemId": id });
        let Some((title, status)) = expected[&id].clone() else {
            let (code, problem) = client.post("deleteItem", &body).await;
            assert_eq!((code, &problem["outcome"]), (409, &json!("UnknownItem")));
            continue;
        };
        let (name, next) = match dice.below(4) {
            0 => ("deleteItem", None),
            1 => ("setItemStatus", Some((title, if status == "open" { "done" } else { "open" }.to_owned()))),
            _ => ("editItem", Some((format!("title {round} of {number}"), status))),
        };
        if let Some((title, status)) = &next {
            match name {
                "editItem" => {
                    body["title"] = json!(title);
                    body["content"] = json!("changed");
                    body["expected"] = before.unwrap()["version"].clone();
                }
                _ => body["status"] = json!(status),
            }
        }
        let (code, answer) = client.post(name, &body).await;
        assert!(code == 200 || code == 204, "{name} {body}: {code} {answer}");
        expected.insert(id, next);
    }
    expected
}

/// Items that are never written must be in every answer once and unchanged; deleted ones in none.
struct Look {
    stable: BTreeMap<String, (String, String)>,
    dead: BTreeSet<String>,
    settings: BTreeSet<String>,
    members: BTreeSet<String>,
}

impl Look {
    fn at_items(&self, name: &str, items: &[Value]) {
        let mut seen = BTreeSet::new();
        for item in items {
            let id = item["itemId"].as_str().unwrap();
            assert!(!self.dead.contains(id), "{name} has resurrected {id}");
            if let Some((title, status)) = self.stable.get(id) {
                assert_eq!((&item["title"], &item["status"]), (&json!(title), &json!(status)), "{name}: {id}");
                assert!(seen.insert(id), "{name} has {id} twice");
            }
        }
        assert_eq!(seen.len(), self.stable.len(), "{name} misses items");
    }

    async fn once(&self, client: &Client) {
        let home = legacy::home();
        let (code, whole) = client.get(&format!("workspace?workspaceId={home}")).await;
        assert_eq!(code, 200, "{whole}");
        self.at_items("workspace", whole["Item"].as_array().unwrap());
        let named = |kind: &str, field: &str| -> Vec<String> {
            let parts = whole[kind].as_array().unwrap().iter();
            parts.map(|part| part[field].as_str().unwrap().to_owned()).collect()
        };
        let (settings, members) = (named("Setting", "name"), named("Member", "userId"));
        assert_eq!((settings.len(), settings.into_iter().collect()), (self.settings.len(), self.settings.clone()));
        assert_eq!((members.len(), members.into_iter().collect()), (self.members.len(), self.members.clone()));
        for list in ["latestItems", "itemsOfWorkspace"] {
            let items = self.pages(client, &format!("{list}?workspaceId={home}")).await;
            self.at_items(list, &items);
            if list == "latestItems" {
                let times: Vec<&str> = items.iter().map(|item| item["createdAt"].as_str().unwrap()).collect();
                assert!(times.is_sorted_by(|one, other| one >= other), "{times:?}");
            }
        }
        let (code, mine) = client.post("myWorkspaces", &json!({})).await;
        let names: Vec<&Value> = mine["workspaces"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
        assert_eq!((code, names), (200, vec![&json!("Home")]));
    }

    async fn pages(&self, client: &Client, path: &str) -> Vec<Value> {
        let mut all = Vec::new();
        let mut next = String::new();
        loop {
            let (code, page) = client.get(&format!("{path}{next}")).await;
            assert_eq!(code, 200, "{page}");
            all.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["cursor"].as_str() {
                Some(cursor) => next = format!("&cursor={cursor}"),
                None => return all,
            }
        }
    }
}

/// Runs a step on stores that fail after a number of requests, each a little later than the one before, until it
/// succeeds. The clock advances.
async fn until_done<S, R>(home: &Home, step: S) -> R
where
    S: AsyncFn(Migration) -> Result<R, MigrateError>,
{
    let mut requests = 3;
    loop {
        let mortal = Arc::new(Mortal::new(home.host.store(), requests));
        match step(migration(home, mortal.clone())).await {
            Ok(done) => return done,
            Err(error) => assert!(mortal.is_dead(), "{error}"),
        }
        requests += 1 + requests / 3;
        home.clock.advance(Duration::from_secs(3));
    }
}

/// Assignment of the items: a third is never written, four are deleted at the start, the rest belongs to the writers.
struct Shares {
    look: Arc<Look>,
    owned: Vec<OldItem>,
}

impl Shares {
    async fn of(first: &Client, people: &[Uuid]) -> Self {
        let all = items();
        let (stable, rest) = all.split_at(AMOUNT.items / 3);
        let (dead, owned) = rest.split_at(4);
        for item in dead {
            let body = json!({ "workspaceId": legacy::home().as_str(), "itemId": id(item) });
            assert!(first.post("deleteItem", &body).await.0 < 300);
        }
        let look = Look {
            stable: stable.iter().map(|item| (id(item), (item.title.clone(), status(item).to_owned()))).collect(),
            dead: dead.iter().map(id).collect(),
            settings: (0..AMOUNT.settings).map(|number| data::setting(AMOUNT.seed, number).name).collect(),
            members: people.iter().map(ToString::to_string).collect(),
        };
        Self { look: Arc::new(look), owned: owned.to_vec() }
    }
}

async fn look_until(stop: Arc<AtomicBool>, look: Arc<Look>, client: Client) -> usize {
    let mut looks = 0;
    while !stop.load(Ordering::SeqCst) || looks == 0 {
        look.once(&client).await;
        looks += 1;
    }
    looks
}

/// Migrates from the first form to the second, killed repeatedly. An instance of the old application saves an item
/// late.
async fn migrate(home: &Home, old: &WorkspacesV1, late: &ItemHash) {
    let ran = until_done(home, async |migration: Migration| {
        let state = migration.status().await?;
        if state.phase == Phase::Filled {
            return Ok(state);
        }
        migration.run(&pace(), &|_| {}).await.map(|ran| ran.state)
    });
    assert_eq!(ran.await.counts.stuck, 0);
    // The cut-over refuses until the late item is migrated too.
    old.save_item(late, "late", "by the old application").await.unwrap();
    let migration = migration(home, home.host.store());
    let refused = migration.cut_over(&pace(), &|_| {}).await;
    assert!(matches!(refused, Err(MigrateError::Left(1, _))), "{refused:?}");
    migration.run(&pace(), &|_| {}).await.unwrap();
    let verified = migration.verify(&|_| {}).await.unwrap();
    assert!(verified.is_complete(), "{verified:?}");
    let closed = until_done(home, async |migration: Migration| migration.cut_over(&pace(), &|_| {}).await).await;
    assert_eq!(closed.phase, Phase::Closed);
}

/// Checks that exactly the expected items exist.
async fn ends_with(expected: Expected, look: &Look, client: &Client, home: &Home) {
    let found = look.pages(client, &format!("itemsOfWorkspace?workspaceId={}", legacy::home())).await;
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let now: BTreeMap<_, _> =
        found.iter().map(|item| (text(&item["itemId"]), (text(&item["title"]), text(&item["status"])))).collect();
    let wanted: BTreeMap<_, _> = expected.into_iter().filter_map(|(id, item)| Some((id, item?))).collect();
    assert_eq!((found.len(), now), (wanted.len(), wanted));
    let dump = home.dump().await;
    let left: Vec<_> = dump.keys().filter(|(pk, _)| !pk.starts_with("WORKSPACE#")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(migration(home, home.host.store()).status().await.unwrap().phase, Phase::Closed);
}

#[test]
fn a_served_system_is_migrated_under_load() {
    on_every_store(async |scene: Scene| {
        let home = Home::open(&scene).await;
        fill(&home.host.store(), &home.host.options(), AMOUNT).await.unwrap();
        let old = WorkspacesV1::on(home.host.store(), home.host.options()).unwrap();
        let people: Vec<Uuid> = (0..AMOUNT.members).map(|number| data::member(AMOUNT.seed, number).user_id).collect();
        home.workspaces.adopt_legacy("Home", &people[0]).await.unwrap();
        let served = Served::start(&home.host, TokenKeys::default());
        let first = served.client(&people[1]);
        let Shares { look, owned } = Shares::of(&first, &people).await;
        let stop = Arc::new(AtomicBool::new(false));
        let mut lookers = Vec::new();
        for person in &people[2..] {
            lookers.push(tokio::spawn(look_until(stop.clone(), look.clone(), served.client(person))));
        }
        let mut writers = Vec::new();
        for (number, own) in owned.chunks(owned.len().div_ceil(WRITERS)).enumerate() {
            writers.push(tokio::spawn(write_for_a_while(served.client(&people[number]), own.to_vec(), number)));
        }
        let late: ItemHash = "f".repeat(64).parse().unwrap();
        migrate(&home, &old, &late).await;
        let mut expected = Expected::new();
        for writer in writers {
            expected.extend(writer.await.unwrap());
        }
        home.clock.advance(Duration::from_secs(20));
        stop.store(true, Ordering::SeqCst);
        for looker in lookers {
            assert!(looker.await.unwrap() > 0);
        }
        look.once(&first).await;
        expected.extend(look.dead.iter().map(|id| (id.clone(), None)));
        expected.extend(look.stable.iter().map(|(id, item)| (id.clone(), Some(item.clone()))));
        expected.insert(old_link::item_id(late.as_str()).to_string(), Some(("late".to_owned(), "open".to_owned())));
        ends_with(expected, &look, &first, &home).await;
    });
}
