//! A migration under load: nothing lost, nothing twice, nothing resurrected, no read ever wrong.
//!
//! Each writer has items of its own and knows what must be in them after each of its writes. Readers look at everything all the time:
//! items that nobody writes must always be there, exactly once and as they are; items that were deleted before must never be seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use keyform::Execute;
use keyform::model::evolve::state::Phase;
use keyform::model::evolve::{MigrateError, Pace};
use keyform::model::run::{RunError, Runner};

use super::support::*;
use keyform_scenario::Store;

/// What a writer expects of an item: its status and title, or that it is gone.
type Expected = BTreeMap<String, Option<(String, String)>>;

struct Load {
    items: usize,
    writers: usize,
    rounds: usize,
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % sides as u64).unwrap()
    }
}

async fn write_for_a_while(v2: Runner, ids: Vec<String>, number: usize, rounds: usize) -> Expected {
    let mut dice = Dice(number as u64);
    let mut expected: Expected = Expected::new();
    for round in 0..rounds {
        let id = &ids[dice.roll(ids.len())];
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
        match dice.roll(4) {
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

/// Reads everything again and again; `stable` must be there each time, `dead` never.
async fn look_until(
    v2: Runner,
    stop: Arc<AtomicBool>,
    stable: BTreeMap<String, String>,
    dead: BTreeSet<String>,
) -> u64 {
    let mut looks = 0;
    while !stop.load(Ordering::SeqCst) || looks == 0 {
        for name in ["latestItems", "itemsOfWorkspace"] {
            let all = all(&v2, name, &[("workspaceId", HOME)]).await;
            let mut seen = BTreeSet::new();
            for item in &all {
                let id = text(item, "itemId");
                assert!(!dead.contains(&id), "{name} has resurrected {id}");
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
        for id in dead.iter().take(2) {
            assert_eq!(one(read(&v2, "itemById", &[("workspaceId", HOME), ("itemId", id)]).await), None);
        }
        looks += 1;
        tokio::task::yield_now().await;
    }
    looks
}

async fn under_load(store: Arc<dyn Execute>, load: Load) {
    let clock = Clock::new();
    legacy(&store, &clock, load.items).await;
    let v2 = runner(V2, &store, &clock);
    let ids: Vec<(String, String)> = all(&v2, "latestItems", &[("workspaceId", HOME)])
        .await
        .iter()
        .map(|item| (text(item, "itemId"), text(item, "title")))
        .collect();
    assert_eq!(ids.len(), load.items);
    // A third is never written, a few are deleted before, the rest belongs to the writers.
    let (stable, rest) = ids.split_at(load.items / 3);
    let (dead, owned) = rest.split_at(load.items / 10);
    for (id, _) in dead {
        write(&v2, "deleteItem", &[("workspaceId", HOME), ("itemId", id)]).await.unwrap();
    }
    let stable: BTreeMap<String, String> = stable.iter().cloned().collect();
    let dead: BTreeSet<String> = dead.iter().map(|(id, _)| id.clone()).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let lookers: Vec<_> = (0..2)
        .map(|_| tokio::spawn(look_until(runner(V2, &store, &clock), Arc::clone(&stop), stable.clone(), dead.clone())))
        .collect();
    let per_writer = owned.len().div_ceil(load.writers);
    let writers: Vec<_> = owned
        .chunks(per_writer)
        .enumerate()
        .map(|(number, ids)| {
            let ids = ids.iter().map(|(id, _)| id.clone()).collect();
            tokio::spawn(write_for_a_while(runner(V2, &store, &clock), ids, number, load.rounds))
        })
        .collect();
    // Two migrate at once: one of them has the lease at a time, and both may end it.
    let refused = Arc::new(AtomicU64::new(0));
    let migrators: Vec<_> = ["one", "two"]
        .into_iter()
        .map(|owner| {
            let migration = migration(V2, &store, &clock);
            let refused = Arc::clone(&refused);
            tokio::spawn(async move {
                let pace = Pace { at_once: 3, ..pace(owner) };
                loop {
                    match migration.run(&pace, &quiet).await {
                        Ok(ran) => {
                            assert!(ran.stuck.is_empty(), "{:?}", ran.stuck);
                            return;
                        }
                        Err(MigrateError::Leased(_) | MigrateError::LeaseLost) => {
                            refused.fetch_add(1, Ordering::SeqCst);
                            tokio::task::yield_now().await;
                        }
                        Err(error) => panic!("{error}"),
                    }
                }
            })
        })
        .collect();
    for migrator in migrators {
        migrator.await.unwrap();
    }
    // The cut-over comes while they still read and write.
    let migration = migration(V2, &store, &clock);
    let state = migration.cut_over(&pace("three"), &quiet).await.unwrap();
    assert_eq!(state.phase, Phase::Closed);
    let mut expected = Expected::new();
    for writer in writers {
        expected.extend(writer.await.unwrap());
    }
    clock.advance(20_000);
    stop.store(true, Ordering::SeqCst);
    for looker in lookers {
        assert!(looker.await.unwrap() > 0);
    }
    let now: BTreeMap<String, (String, String)> = all(&v2, "itemsOfWorkspace", &[("workspaceId", HOME)])
        .await
        .iter()
        .map(|item| (text(item, "itemId"), (text(item, "status"), text(item, "title"))))
        .collect();
    for (id, title) in &ids {
        let expected = match (expected.get(id), dead.contains(id)) {
            (_, true) | (Some(None), _) => None,
            (Some(Some(expected)), _) => Some(expected.clone()),
            (None, _) => Some(("open".to_owned(), title.clone())),
        };
        assert_eq!(now.get(id), expected.as_ref(), "{id}");
    }
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
    for store in Store::all().await.into_iter().filter(|store| store.name != "embedded") {
        under_load(Arc::clone(&store.execute), Load { items: 40, writers: 3, rounds: 15 }).await;
        store.stop();
    }
}
