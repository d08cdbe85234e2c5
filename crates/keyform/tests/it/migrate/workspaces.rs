//! Migration of the workspaces system from its first form to its second.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use keyform::runtime::run::{Answer, Caller, RunError};
use keyform::{Database, Error, Execute, Operation, Output};
use keyform_core::execute::BoxFuture;
use keyform_runtime::evolve::state::Phase;
use keyform_runtime::evolve::{MigrateError, Progress};

use super::support::*;
use keyform_scenario::fault::Mortal;

async fn begun() -> (Arc<dyn Execute>, Arc<Clock>) {
    let store: Arc<dyn Execute> = Arc::new(Database::in_memory());
    let clock = Clock::new();
    legacy(&store, &clock, 35).await;
    (store, clock)
}

#[tokio::test]
async fn every_read_finds_old_items_before_anything_has_moved() {
    let (store, clock) = begun().await;
    let v2 = runner(V2, &store, &clock);
    let home = [("workspaceId", HOME)];
    let all_items = all(&v2, "itemsOfWorkspace", &home).await;
    assert_eq!(all_items.len(), 35);
    let latest = all(&v2, "latestItems", &home).await;
    let times: Vec<String> = latest.iter().map(|item| text(item, "createdAt")).collect();
    assert_eq!(latest.len(), 35);
    assert!(times.is_sorted_by(|one, other| one > other), "newest first: {times:?}");
    let id = text(&latest[0], "itemId");
    let item = one(read(&v2, "itemById", &[("workspaceId", HOME), ("itemId", &id)]).await).unwrap();
    assert_eq!(item, latest[0]);
    assert_eq!(text(&item, "legacyHash"), hash(34));
    assert_eq!(all(&v2, "itemsByStatus", &[("workspaceId", HOME), ("status", "open")]).await.len(), 35);
    assert_eq!(items(read(&v2, "settingsOfWorkspace", &home).await).len(), 4);
    assert_eq!(items(read(&v2, "membersOfWorkspace", &home).await).len(), 4);
    assert!(one(read(&v2, "settingByName", &[("workspaceId", HOME), ("name", "setting-1")]).await).is_some());
    // Other workspaces do not see them.
    let other = user(77);
    assert_eq!(all(&v2, "itemsOfWorkspace", &[("workspaceId", &other)]).await.len(), 0);
    assert!(one(read(&v2, "itemById", &[("workspaceId", &other), ("itemId", &id)]).await).is_none());
    // A guard accepts members in the old form.
    let caller = |number| Caller::Claims([("userId".to_owned(), user(number).as_str().into())].into());
    let mut as_member = call(&home);
    as_member.caller = caller(11);
    assert!(v2.read("itemsOfWorkspace", &as_member).await.is_ok());
    as_member.caller = caller(99);
    assert_eq!(v2.read("itemsOfWorkspace", &as_member).await, Err(RunError::Forbidden));
}

#[tokio::test]
async fn the_whole_aggregate_is_one_collection() {
    let (store, clock) = begun().await;
    let v2 = runner(V2, &store, &clock);
    write(&v2, "adoptLegacy", &[("name", "Home"), ("ownerId", &user(10))]).await.unwrap();
    let Answer::Collection { parts, .. } = read(&v2, "workspace", &[("workspaceId", HOME)]).await else { panic!() };
    let counts: Vec<usize> = parts.iter().map(|(_, items)| items.len()).collect();
    assert_eq!(counts, [1, 4, 35, 4]);
    // The first owner was a member in the old form: the migration carries it over and changes it, and creates no
    // duplicate.
    let owner = one(read(&v2, "membership", &[("workspaceId", HOME), ("userId", &user(10))]).await).unwrap();
    assert_eq!(text(&owner, "role"), "owner");
}

#[tokio::test]
async fn what_is_written_meanwhile_is_neither_lost_nor_resurrected() {
    let (store, clock) = begun().await;
    let v2 = runner(V2, &store, &clock);
    let latest = all(&v2, "latestItems", &[("workspaceId", HOME)]).await;
    let id = |number: usize| text(&latest[number], "itemId");
    // Changed and deleted before the backfill.
    write(&v2, "setItemStatus", &[("workspaceId", HOME), ("itemId", &id(0)), ("status", "done")]).await.unwrap();
    write(&v2, "deleteItem", &[("workspaceId", HOME), ("itemId", &id(1))]).await.unwrap();
    write(&v2, "deleteSetting", &[("workspaceId", HOME), ("name", "setting-0")]).await.unwrap();
    let check = async |left: usize| {
        let now = all(&v2, "latestItems", &[("workspaceId", HOME)]).await;
        assert_eq!(now.len(), left);
        assert_eq!(text(&now[0], "status"), "done");
        assert!(one(read(&v2, "itemById", &[("workspaceId", HOME), ("itemId", &id(1))]).await).is_none());
        assert!(one(read(&v2, "settingByName", &[("workspaceId", HOME), ("name", "setting-0")]).await).is_none());
        let again = write(&v2, "deleteItem", &[("workspaceId", HOME), ("itemId", &id(1))]).await;
        assert!(matches!(again, Err(RunError::Refused { .. })), "{again:?}");
        assert_eq!(all(&v2, "itemsByStatus", &[("workspaceId", HOME), ("status", "done")]).await.len(), 1);
    };
    check(34).await;
    let migration = migration(V2, &store, &clock);
    let ran = migration.run(&pace("one"), &quiet).await.unwrap();
    assert_eq!((ran.state.phase, ran.state.counts.stuck), (Phase::Filled, 0));
    check(34).await;
    let verified = migration.verify(&quiet).await.unwrap();
    assert!(verified.is_complete(), "{verified:?}");
    assert_eq!((verified.changed, verified.deleted), (1, 2));
    let closed = migration.cut_over(&pace("one"), &quiet).await.unwrap();
    assert_eq!((closed.phase, closed.counts.removed), (Phase::Closed, 35 + 4 + 4));
    check(34).await;
    clock.advance(20_000);
    check(34).await;
}

#[tokio::test]
async fn a_cut_over_refuses_while_anything_is_left() {
    let (store, clock) = begun().await;
    let migration = migration(V2, &store, &clock);
    let refused = migration.cut_over(&pace("one"), &quiet).await;
    assert!(matches!(refused, Err(MigrateError::Left(43, _))), "{refused:?}");
    assert_eq!(migration.status().await.unwrap().phase, Phase::Open);
}

#[tokio::test]
async fn two_runs_do_not_run_at_once_and_a_dead_one_is_followed() {
    let (store, clock) = begun().await;
    let failing: Arc<dyn Execute> = Arc::new(Mortal::new(Arc::clone(&store), 25));
    assert!(migration(V2, &failing, &clock).run(&pace("one"), &quiet).await.is_err());
    let second = migration(V2, &store, &clock);
    assert!(matches!(second.run(&pace("two"), &quiet).await, Err(MigrateError::Leased(_))));
    clock.advance(61_000);
    let ran = second.run(&pace("two"), &quiet).await.unwrap();
    assert_eq!(ran.state.phase, Phase::Filled);
    assert!(second.verify(&quiet).await.unwrap().is_complete());
}

#[tokio::test]
async fn a_way_back_gives_the_old_form_what_has_changed() {
    let (store, clock) = begun().await;
    let v1 = runner(V1, &store, &clock);
    let v2 = runner(V2, &store, &clock);
    let migration = migration(V2, &store, &clock);
    write(&v2, "adoptLegacy", &[("name", "Home"), ("ownerId", &user(10))]).await.unwrap();
    migration.run(&pace("one"), &quiet).await.unwrap();
    let latest = all(&v2, "latestItems", &[("workspaceId", HOME)]).await;
    let id = text(&latest[3], "itemId");
    write(&v2, "setItemStatus", &[("workspaceId", HOME), ("itemId", &id), ("status", "done")]).await.unwrap();
    write(&v2, "deleteItem", &[("workspaceId", HOME), ("itemId", &text(&latest[4], "itemId"))]).await.unwrap();
    write(&v2, "setSetting", &[("workspaceId", HOME), ("name", "made-since"), ("value", "on")]).await.unwrap();
    let back = migration.roll_back(&pace("one"), &quiet).await.unwrap();
    assert_eq!((back.reverted, back.deleted, back.kept), (34 + 4 + 4 + 1, 1, 0), "{back:?}");
    let hash = text(&latest[3], "legacyHash");
    assert_eq!(text(&one(read(&v1, "itemByHash", &[("hash", &hash)]).await).unwrap(), "status"), "done");
    assert_eq!(all(&v1, "items", &[]).await.len(), 34);
    assert!(one(read(&v1, "settingByName", &[("name", "made-since")]).await).is_some());
    assert_eq!(all(&v1, "itemsByStatus", &[("status", "done")]).await.len(), 1);
    // Migrate forward again.
    migration.run(&pace("one"), &quiet).await.unwrap();
    assert_eq!(all(&v2, "latestItems", &[("workspaceId", HOME)]).await.len(), 34);
    migration.cut_over(&pace("one"), &quiet).await.unwrap();
    assert_eq!(all(&v2, "latestItems", &[("workspaceId", HOME)]).await.len(), 34);
    let refused = migration.roll_back(&pace("one"), &quiet).await;
    assert!(matches!(refused, Err(MigrateError::Phase(Phase::Closed, _))));
}

#[tokio::test]
async fn what_the_old_application_still_writes_is_followed_until_the_cut_over() {
    let (store, clock) = begun().await;
    let v1 = runner(V1, &store, &clock);
    let v2 = runner(V2, &store, &clock);
    let migration = migration(V2, &store, &clock);
    migration.run(&pace("one"), &quiet).await.unwrap();
    let latest = all(&v2, "latestItems", &[("workspaceId", HOME)]).await;
    // Two items change in the old form, one of them in the new form too; one is added.
    let place = [("workspaceId", HOME), ("itemId", &text(&latest[1], "itemId"))];
    write(&v2, "updateItem", &[place[0], place[1], ("title", "new"), ("content", "new")]).await.unwrap();
    for item in &latest[..2] {
        write(&v1, "setItemStatus", &[("hash", &text(item, "legacyHash")), ("status", "done")]).await.unwrap();
    }
    write(&v1, "saveItem", &[("hash", &hash(99)), ("title", "late"), ("content", "text")]).await.unwrap();
    let refused = migration.cut_over(&pace("one"), &quiet).await;
    assert!(matches!(refused, Err(MigrateError::Left(3, _))), "{refused:?}");
    migration.run(&pace("one"), &quiet).await.unwrap();
    let done = all(&v2, "itemsByStatus", &[("workspaceId", HOME), ("status", "done")]).await;
    assert_eq!(done.iter().map(|item| text(item, "itemId")).collect::<Vec<_>>(), [text(&latest[0], "itemId")]);
    assert_eq!(text(&one(read(&v2, "itemById", &place).await).unwrap(), "title"), "new");
    assert_eq!(all(&v2, "latestItems", &[("workspaceId", HOME)]).await.len(), 36);
    migration.cut_over(&pace("one"), &quiet).await.unwrap();
}

#[tokio::test]
async fn an_item_that_just_moved_is_on_one_page_only() {
    let store: Arc<dyn Execute> = Arc::new(Database::in_memory());
    let clock = Clock::new();
    legacy(&store, &clock, 60).await;
    let v2 = runner(V2, &store, &clock);
    migration(V2, &store, &clock).run(&pace("one"), &quiet).await.unwrap();
    // Both pages come from lists that still contain the marked old items, because an index may lag.
    let latest = all(&v2, "latestItems", &[("workspaceId", HOME)]).await;
    let mut ids: Vec<String> = latest.iter().map(|item| text(item, "itemId")).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), latest.len()), (60, 60));
}

/// Counts the items that the store returns.
struct Counting {
    store: Arc<dyn Execute>,
    items: AtomicUsize,
}

impl Execute for Counting {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move {
            let output = self.store.execute(operation).await?;
            let count = match &output {
                Output::Query(page) | Output::Scan(page) => page.count,
                Output::BatchGetItem(batch) => batch.responses.values().map(Vec::len).sum(),
                Output::GetItem(got) => usize::from(got.item.is_some()),
                _ => 0,
            };
            self.items.fetch_add(count, Ordering::SeqCst);
            Ok(output)
        })
    }
}

#[tokio::test]
async fn one_old_item_is_found_without_reading_all() {
    let store: Arc<dyn Execute> = Arc::new(Database::in_memory());
    let clock = Clock::new();
    legacy(&store, &clock, 90).await;
    let oldest = all(&runner(V2, &store, &clock), "latestItems", &[("workspaceId", HOME)]).await.pop().unwrap();
    let counting = Arc::new(Counting { store, items: AtomicUsize::new(0) });
    let counted: Arc<dyn Execute> = counting.clone();
    let v2 = runner(V2, &counted, &clock);
    let id = text(&oldest, "itemId");
    assert_eq!(one(read(&v2, "itemById", &[("workspaceId", HOME), ("itemId", &id)]).await), Some(oldest));
    let read = counting.items.load(Ordering::SeqCst);
    assert!(read <= 25, "{read} items were read to find one of 90");
}

#[tokio::test]
async fn the_estimate_is_what_the_run_takes_and_the_counts_add_up() {
    let (store, clock) = begun().await;
    let migration = migration(V2, &store, &clock);
    let estimate = migration.estimate(None, &quiet).await.unwrap();
    let ran = migration.run(&pace("one"), &quiet).await.unwrap();
    assert_eq!(estimate.write_units, ran.state.counts.units, "{estimate:?}");
    let found = migration.verify(&quiet).await.unwrap();
    let sum = found.left
        + found.wrong
        + found.same
        + found.changed
        + found.deleted
        + found.superseded
        + found.new
        + found.other;
    assert_eq!(found.scanned, sum, "{found:?}");
    let closed = migration.cut_over(&pace("one"), &quiet).await.unwrap();
    assert_eq!(estimate.removal_units, closed.counts.units - ran.state.counts.units);
}

#[tokio::test]
async fn the_progress_of_a_resumed_run_reaches_the_end() {
    let (store, clock) = begun().await;
    let failing: Arc<dyn Execute> = Arc::new(Mortal::new(Arc::clone(&store), 60));
    let first = Mutex::new(Vec::new());
    let watch = |progress: &Progress| first.lock().unwrap().push(progress.done);
    assert!(migration(V2, &failing, &clock).run(&pace("one"), &watch).await.is_err());
    let stopped = first.lock().unwrap().last().copied().unwrap_or(0);
    clock.advance(61_000);
    let second = Mutex::new(Vec::new());
    let watch = |progress: &Progress| second.lock().unwrap().push((progress.done, progress.total));
    migration(V2, &store, &clock).run(&pace("two"), &watch).await.unwrap();
    let second = second.into_inner().unwrap();
    assert!(second[0].0 >= stopped, "{stopped} and then {second:?}");
    let (done, total) = *second.last().unwrap();
    assert_eq!(done, total);
}
