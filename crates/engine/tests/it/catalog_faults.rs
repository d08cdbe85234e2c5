//! Fails every disk operation once while tables, indexes, streams and expiry change: acknowledged changes survive a
//! power cut, and the catalog stays consistent.

use crate::support::{START_MS, TABLE, World, global_index, item, simple_table};
use keyform_core::operation::{
    DeleteTable, DescribeTable, GlobalIndexChange, StreamChange, TimeToLive, UpdateTable, UpdateTimeToLive,
};
use keyform_core::table::{ScalarType, StreamView};
use keyform_core::{AttributeValue, Attributes};

const NOW_SECS: i64 = (START_MS / 1000) as i64;

/// Steps of the workload that were acknowledged.
#[derive(Debug, Default, PartialEq)]
struct Acknowledged {
    created: bool,
    puts: Vec<Attributes>,
    index_asked_for: bool,
    index_removed: bool,
    expired: bool,
    deleted: bool,
}

fn thing(number: i64) -> Attributes {
    let mut thing =
        item([("pk", format!("item{number}").as_str().into()), ("g", format!("{}", number % 3).as_str().into())]);
    if number % 2 == 0 {
        thing.insert("ends".to_owned(), (NOW_SECS + 5).into());
    }
    thing
}

fn index_change(change: GlobalIndexChange) -> UpdateTable {
    let attributes = [("g".to_owned(), ScalarType::S)].into();
    UpdateTable { attributes, indexes: vec![change], ..UpdateTable::default() }
}

/// Stops at the first failure; returns the steps acknowledged before.
fn work(world: &World) -> Acknowledged {
    let mut done = Acknowledged::default();
    let failed = try_work(world, &mut done).is_err();
    assert_eq!(failed, world.disk().has_failed(), "only a failing disk is a reason to fail");
    done
}

fn try_work(world: &World, done: &mut Acknowledged) -> Result<(), keyform_core::Error> {
    world.run(simple_table())?;
    done.created = true;
    for number in 0..6 {
        let request =
            keyform_core::operation::PutItem { table: TABLE.to_owned(), item: thing(number), ..Default::default() };
        world.run(request)?;
        done.puts.push(thing(number));
    }
    world.update(UpdateTable {
        stream: Some(StreamChange::Enable(StreamView::NewImage)),
        ..index_change(GlobalIndexChange::Create(global_index("index", "g")))
    })?;
    done.index_asked_for = true;
    let setting = TimeToLive { attribute: "ends".to_owned(), enabled: true };
    world.run(UpdateTimeToLive { table: TABLE.to_owned(), setting })?;
    world.database.sweep()?;
    world.env.advance_ms(10_000);
    world.database.sweep()?;
    done.expired = true;
    world.update(index_change(GlobalIndexChange::Delete { name: "index".to_owned() }))?;
    done.index_removed = true;
    world.database.sweep()?;
    world.run(DeleteTable { table: TABLE.to_owned() })?;
    done.deleted = true;
    world.database.sweep()
}

fn check(world: &World, done: &Acknowledged) {
    world.sweep();
    let exists = world.run(DescribeTable { table: TABLE.to_owned() }).is_ok();
    assert!(exists || !done.created || !done.puts.is_empty(), "{done:?}");
    if done.deleted {
        assert!(!exists);
    }
    if !exists {
        return world.create(simple_table()).arn.clear();
    }
    let items = world.scan(None);
    let survives = |item: &&Attributes| !done.expired || !item.contains_key("ends");
    if !done.index_asked_for {
        assert!(done.puts.iter().all(|item| items.contains(item)), "{done:?} {items:?}");
    }
    assert!(
        done.puts.iter().filter(survives).filter(|item| !item.contains_key("ends")).all(|item| items.contains(item))
    );
    if done.expired {
        assert!(items.iter().all(|item| !item.contains_key("ends")));
    }
    check_index(world, done, &items);
    assert_eq!(world.describe().item_count, items.len() as u64);
}

fn check_index(world: &World, done: &Acknowledged, items: &[Attributes]) {
    let Some(index) = world.index("index") else { return assert!(!done.index_asked_for || done.expired) };
    assert!(!done.index_removed);
    let has_group = |item: &&Attributes| matches!(item.get("g"), Some(AttributeValue::S(_)));
    let expected: Vec<Attributes> = items.iter().filter(has_group).cloned().collect();
    assert_eq!(world.scan(Some("index")), expected);
    assert_eq!(index.item_count, expected.len() as u64);
}

#[test]
fn whatever_operation_of_the_disk_fails_nothing_acknowledged_is_lost() {
    let world = World::on_disk();
    let first = world.disk().operations();
    let all = work(&world);
    assert!(all.deleted);
    let last = world.disk().operations();
    for operation in first..last {
        let mut world = World::on_disk();
        world.disk().fail_at(operation);
        let done = work(&world);
        world.cut_power();
        check(&world, &done);
    }
}
