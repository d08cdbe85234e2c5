//! Migration under load: nothing is lost, duplicated or resurrected, and no read is ever wrong.
//!
//! Each writer owns its items and knows their expected contents after each write. Readers check everything
//! continuously: items that are never written must always be present exactly once and unchanged; deleted items must
//! never reappear.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keyform::Execute;
use keyform::runtime::run::{RunError, Runner};
use keyform_runtime::evolve::state::Phase;
use keyform_runtime::evolve::{MigrateError, Migration, Pace};

use super::support::*;
use keyform_scenario::{Dice, Store};

/// Expected status and title of an item, or `None` if it is deleted.
type Expected = BTreeMap<String, Option<(String, String)>>;

struct Load {
    items: usize,
    writers: usize,
    rounds: usize,
}

async fn write_for_a_while(v2: Runner, ids: Vec<String>, number: usize, rounds: usize) -> Expected {
    let mut dice = Dice(number as u64);
    let mut expected: Expected = Expected::new();
    for round in 0..rounds {
        let id = &ids[dice.below(ids.len())];
        let place = [("workspaceId", HOME), ("itemId", id.as_str())];
        let before = one(read(&v2, "itemById", &place).await);
        match expected.get(id) {
            Some(None) => assert_eq!(before, None, "{id} was deleted"),
            Some(Some((status, title))) => {
                let item = before.clone().unwrap_or_else(|| panic!("{id} is lost"));
                assert_eq!((&text(&item, "status"), &text(&item, "title")), (status, title), "{id}");
            }
            None => assert!(before.is_some(), "{id} is lost before it was touched"),
        }
        let title = format!("title {round} of {number}");
        let gone = expected.get(id) == Some(&None);
        match dice.below(4) {
            0 => {
                let done = write(&v2, "deleteItem", &place).await;
                assert_eq!(matches!(done, Err(RunError::Refused { .. })), gone, "{done:?}");
                expected.insert(id.clone(), None);
            }
            1 => {
                let status = if round % 2 == 0 { "done" } else { "open" };
                let done = write(&v2, "setItemStatus", &[place[0], place[1], ("status", status)]).await;
                changed(&mut expected, id, &before, done.is_ok(), gone, |now| now.0 = status.to_owned());
            }
            _ => {
                let arguments = [place[0], place[1], ("title", title.as_str()), ("content", "changed")];
                let done = write(&v2, "updateItem", &arguments).await;
                changed(&mut expected, id, &before, done.is_ok(), gone, |now| now.1 = title.clone());
            }
        }
    }
    expected
}

fn changed(
    expected: &mut Expected,
    id: &str,
    before: &Option<keyform::Attributes>,
    is_ok: bool,
    gone: bool,
    change: impl FnOnce(&mut (String, String)),
) {
    assert_eq!(is_ok, !gone, "{id}");
    if let Some(item) = before {
        let mut now = (text(item, "status"), text(item, "title"));
        change(&mut now);
        expected.insert(id.to_owned(), Some(now));
    }
}

/// Reads everything repeatedly; `stable` items must always be present, `dead` ones never.
async fn look_until(
    v2: Runner,
    stop: Arc<AtomicBool>,
    stable: BTreeMap<String, String>,
    dead: BTreeMap<String, String>,
) -> u64 {
    let mut looks = 0;
    while !stop.load(Ordering::SeqCst) || looks == 0 {
        for name in ["latestItems", "itemsOfWorkspace"] {
            let all = all(&v2, name, &[("workspaceId", HOME)]).await;
            let mut seen = BTreeSet::new();
            for item in &all {
                let id = text(item, "itemId");
                assert!(!dead.contains_key(&id), "{name} has resurrected {id}");
                if let Some(title) = stable.get(&id) {
                    assert_eq!(text(item, "title"), *title);
                    assert!(seen.insert(id.clone()), "{name} has {id} twice");
                }
            }
            assert_eq!(seen.len(), stable.len(), "{name} misses an item");
        }
        for (id, title) in stable.iter().take(5) {
            let item = one(read(&v2, "itemById", &[("workspaceId", HOME), ("itemId", id)]).await);
            assert_eq!(item.map(|item| text(&item, "title")).as_deref(), Some(title.as_str()));
        }
        for id in dead.keys().take(2) {
            assert_eq!(one(read(&v2, "itemById", &[("workspaceId", HOME), ("itemId", id)]).await), None);
        }
        looks += 1;
        tokio::task::yield_now().await;
    }
    looks
}

/// Assignment of the items, with their titles: a third is never written, a few are deleted at the start, the rest
/// belongs to the writers.
struct Shares {
    stable: BTreeMap<String, String>,
    dead: BTreeMap<String, String>,
    owned: Vec<(String, String)>,
}

impl Shares {
    async fn of(v2: &Runner, load: &Load) -> Self {
        let latest = all(v2, "latestItems", &[("workspaceId", HOME)]).await;
        assert_eq!(latest.len(), load.items);
        let mut items = latest.iter().map(|item| (text(item, "itemId"), text(item, "title")));
        let stable = items.by_ref().take(load.items / 3).collect();
        let dead: BTreeMap<String, String> = items.by_ref().take(load.items / 10).collect();
        for id in dead.keys() {
            write(v2, "deleteItem", &[("workspaceId", HOME), ("itemId", id)]).await.unwrap();
        }
        Self { stable, dead, owned: items.collect() }
    }

    /// Returns the expected final items by id, given the results of the writers.
    fn expected(&self, written: &Expected) -> BTreeMap<String, (String, String)> {
        let untouched = |(id, title): (&String, &String)| (id.clone(), ("open".to_owned(), title.clone()));
        let mut expected: BTreeMap<_, _> = self.stable.iter().map(untouched).collect();
        expected.extend(self.owned.iter().map(|(id, title)| untouched((id, title))));
        for (id, item) in written {
            match item {
                Some(item) => drop(expected.insert(id.clone(), item.clone())),
                None => drop(expected.remove(id)),
            }
        }
        expected
    }
}

/// Migrates to completion; another process may hold the lease meanwhile.
async fn migrate(migration: Migration, owner: &'static str) {
    let pace = Pace { at_once: 3, ..pace(owner) };
    loop {
        match migration.run(&pace, &quiet).await {
            Ok(ran) => return assert!(ran.stuck.is_empty(), "{:?}", ran.stuck),
            Err(MigrateError::Leased(_) | MigrateError::LeaseLost) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

async fn under_load(store: Arc<dyn Execute>, load: Load) {
    let clock = Clock::new();
    legacy(&store, &clock, load.items).await;
    let another = || runner(V2, &store, &clock);
    let shares = Shares::of(&another(), &load).await;
    let stop = Arc::new(AtomicBool::new(false));
    let lookers = [another(), another()]
        .map(|v2| tokio::spawn(look_until(v2, Arc::clone(&stop), shares.stable.clone(), shares.dead.clone())));
    let mut writers = Vec::new();
    for (number, ids) in shares.owned.chunks(shares.owned.len().div_ceil(load.writers)).enumerate() {
        let ids = ids.iter().map(|(id, _)| id.clone()).collect();
        writers.push(tokio::spawn(write_for_a_while(another(), ids, number, load.rounds)));
    }
    // Two processes migrate concurrently: one of them holds the lease at a time, and either may finish.
    let migrators = ["one", "two"].map(|owner| tokio::spawn(migrate(migration(V2, &store, &clock), owner)));
    for migrator in migrators {
        migrator.await.unwrap();
    }
    // The cut-over happens while readers and writers are still active.
    let state = migration(V2, &store, &clock).cut_over(&pace("three"), &quiet).await.unwrap();
    assert_eq!(state.phase, Phase::Closed);
    let mut written = Expected::new();
    for writer in writers {
        written.extend(writer.await.unwrap());
    }
    clock.advance(20_000);
    stop.store(true, Ordering::SeqCst);
    for looker in lookers {
        assert!(looker.await.unwrap() > 0);
    }
    let now = all(&another(), "itemsOfWorkspace", &[("workspaceId", HOME)]).await;
    let now = now.iter().map(|item| (text(item, "itemId"), (text(item, "status"), text(item, "title"))));
    assert_eq!(now.collect::<BTreeMap<_, _>>(), shares.expected(&written));
    let table = workspaces_table(&store, &clock).await;
    assert!(table.keys().all(|key| key.starts_with("WORKSPACE#")), "an old item is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn embedded_readers_and_writers_go_on() {
    let store = Store::embedded();
    under_load(Arc::clone(&store.execute), Load { items: 120, writers: 4, rounds: 60 }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn readers_and_writers_through_the_sdk_go_on() {
    for store in Store::remote().await {
        under_load(Arc::clone(&store.execute), Load { items: 40, writers: 3, rounds: 15 }).await;
        store.stop();
    }
}
