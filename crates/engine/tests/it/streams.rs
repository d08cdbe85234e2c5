//! Streams: recorded changes, succession of shards, positions of readers, trimming.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{TABLE, World, item, message, on_both, simple_table};
use keyform_core::operation::{
    ChangeKind, ChangeRecord, DeleteTable, DescribeStream, ListStreams, SequenceNumber, Shard, ShardPosition,
    StreamChange, UpdateTable,
};
use keyform_core::table::{Status, StreamView};
use keyform_core::{Attributes, Item};
use keyform_engine::EngineSettings;
use keyform_engine::ShardLimits;

const HOUR_MS: u64 = 60 * 60 * 1000;

fn create(world: &World, view: StreamView) {
    let mut request = simple_table();
    request.stream = Some(view);
    world.create(request);
}

fn thing(name: &str, version: i64) -> Attributes {
    item([("pk", name.into()), ("version", version.into())])
}

fn images(record: &ChangeRecord) -> (bool, bool) {
    (record.old.is_some(), record.new.is_some())
}

fn disable(world: &World) {
    let off = UpdateTable { stream: Some(StreamChange::Disable), ..UpdateTable::default() };
    world.update(off).unwrap();
}

fn listed(world: &World) -> Vec<String> {
    world.run(ListStreams::default()).unwrap().streams.into_iter().map(|stream| stream.arn).collect()
}

#[test]
fn each_change_is_recorded_once_with_what_the_view_shows() {
    for (view, expected) in [
        (StreamView::KeysOnly, [(false, false); 3]),
        (StreamView::NewImage, [(false, true), (false, true), (false, false)]),
        (StreamView::OldImage, [(false, false), (true, false), (true, false)]),
        (StreamView::NewAndOldImages, [(false, true), (true, true), (true, false)]),
    ] {
        on_both(|world| {
            create(world, view);
            world.put(thing("a", 1));
            world.put(thing("a", 1));
            world.put(thing("a", 2));
            world.delete(item([("pk", "a".into())]));
            world.delete(item([("pk", "a".into())]));
            let records = world.all_records();
            let kinds: Vec<ChangeKind> = records.iter().map(|record| record.kind).collect();
            assert_eq!(kinds, [ChangeKind::Insert, ChangeKind::Modify, ChangeKind::Remove]);
            assert_eq!(records.iter().map(images).collect::<Vec<_>>(), expected);
            let keys = Item::from(&item([("pk", "a".into())]));
            assert!(records.iter().all(|record| record.keys == keys && record.view == view));
            assert!(records.is_sorted_by_key(|record| record.sequence));
            records.iter().map(|record| (record.at_ms, record.size_bytes)).collect::<Vec<_>>()
        });
    }
}

#[test]
fn sequence_numbers_and_records_survive_a_restart() {
    let mut world = World::on_disk();
    create(&world, StreamView::NewImage);
    world.put(thing("a", 1));
    let before = world.all_records();
    world.reopen();
    assert_eq!(world.all_records(), before);
    world.put(thing("a", 2));
    world.cut_power();
    let after = world.all_records();
    assert_eq!(after[..1], before);
    assert!(after[1].sequence > before[0].sequence && after[1].id != before[0].id);
}

#[test]
fn iterators_stand_where_they_are_put() {
    on_both(|world| {
        create(world, StreamView::NewImage);
        (1..=3).for_each(|version| world.put(thing("a", version)));
        let shard = world.stream().shards.remove(0);
        let latest = world.iterator(&shard, ShardPosition::Latest).unwrap();
        let all = world.all_records();
        let from = |position| world.records(world.iterator(&shard, position).unwrap(), None).unwrap().0;
        assert_eq!(from(ShardPosition::TrimHorizon), all);
        assert_eq!(from(ShardPosition::At(shard.start)), all);
        assert_eq!(from(ShardPosition::At(all[1].sequence)), all[1..]);
        assert_eq!(from(ShardPosition::After(all[1].sequence)), all[2..]);
        let (none, next) = world.records(latest, None).unwrap();
        assert_eq!(none, []);
        world.put(thing("b", 1));
        let (newest, next) = world.records(next.unwrap(), None).unwrap();
        assert_eq!(newest.len(), 1);
        assert_eq!(newest[0].new, Some(Item::from(&thing("b", 1))));
        assert_eq!(world.records(next.unwrap(), None).unwrap().0, []);
        let foreign = world.iterator(&shard, ShardPosition::At(SequenceNumber(7)));
        assert_eq!(message(foreign), "ValidationException: Invalid SequenceNumber for the shard");
        assert!(message(world.records("x".to_owned(), None)).starts_with("ValidationException"));
    });
}

#[test]
fn records_come_in_pages_by_count_and_by_size() {
    on_both(|world| {
        create(world, StreamView::NewImage);
        (0..5).for_each(|number| {
            world.put(item([("pk", format!("{number}").as_str().into()), ("x", "y".repeat(300_000).into())]))
        });
        let shard = world.stream().shards.remove(0);
        let start = world.iterator(&shard, ShardPosition::TrimHorizon).unwrap();
        let (two, next) = world.records(start.clone(), Some(2)).unwrap();
        let (megabyte, _) = world.records(start, None).unwrap();
        let (rest, _) = world.records(next.unwrap(), None).unwrap();
        assert_eq!((two.len(), megabyte.len(), rest.len()), (2, 3, 3));
    });
}

#[test]
fn an_iterator_expires_after_a_quarter_of_an_hour() {
    on_both(|world| {
        create(world, StreamView::NewImage);
        let shard = world.stream().shards.remove(0);
        let iterator = world.iterator(&shard, ShardPosition::TrimHorizon).unwrap();
        world.env.advance_ms(15 * 60 * 1000);
        world.records(iterator.clone(), None).unwrap();
        world.env.advance_ms(1);
        assert!(message(world.records(iterator, None)).starts_with("ExpiredIteratorException"));
    });
}

#[test]
fn an_old_shard_is_followed_by_one_and_a_reader_comes_to_its_end() {
    on_both(|world| {
        create(world, StreamView::NewImage);
        world.env.advance_ms(5 * HOUR_MS);
        world.sweep();
        assert_eq!(world.stream().shards.len(), 1, "an empty shard stays");
        world.put(thing("a", 1));
        world.sweep();
        world.put(thing("a", 2));
        let [parent, child]: [Shard; 2] = world.stream().shards.try_into().unwrap();
        assert_eq!(child.parent, Some(parent.id.clone()));
        assert!(parent.end.is_some_and(|end| end < child.start) && child.end.is_none());
        let read = |shard: &Shard, position| world.records(world.iterator(shard, position).unwrap(), None).unwrap();
        let (records, next) = read(&parent, ShardPosition::TrimHorizon);
        assert_eq!((records.len(), next), (1, None));
        assert_eq!(read(&parent, ShardPosition::Latest), (Vec::new(), None));
        assert_eq!(read(&parent, ShardPosition::After(parent.end.unwrap())), (Vec::new(), None));
        let (records, next) = read(&child, ShardPosition::TrimHorizon);
        assert_eq!((records.len(), next.is_some()), (1, true));
        world.reopen();
        assert_eq!(world.stream().shards, [parent, child]);
    });
}

#[test]
fn a_full_shard_is_split_and_each_item_stays_in_order() {
    let limits = ShardLimits { records: 40, open: 4, ..ShardLimits::default() };
    on_both(|world| {
        let settings = EngineSettings { shards: limits, ..EngineSettings::default() };
        let mut world = world.with_settings(settings);
        create(&world, StreamView::NewImage);
        for version in 0..30 {
            (0..10).for_each(|name| world.put(thing(&format!("item{name}"), version)));
            world.sweep();
        }
        world.reopen();
        let shards = world.stream().shards;
        assert!(shards.iter().filter(|shard| shard.end.is_none()).count() > 1, "{shards:?}");
        let known: Vec<&String> = shards.iter().map(|shard| &shard.id).collect();
        assert!(shards[1..].iter().all(|shard| known.contains(&shard.parent.as_ref().unwrap())));
        let mut versions: BTreeMap<String, Vec<Item>> = BTreeMap::new();
        for record in world.all_records() {
            versions.entry(format!("{:?}", record.keys)).or_default().extend(record.new);
        }
        for (number, changes) in versions.values().enumerate() {
            let expected: Vec<Item> = (0..30).map(|v| Item::from(&thing(&format!("item{number}"), v))).collect();
            assert_eq!(*changes, expected);
        }
        assert_eq!(versions.len(), 10);
        children_are_told(&world, &shards);
        shards.len()
    });
}

#[test]
fn shards_follow_each_other_while_writers_write() {
    const WRITERS: i64 = 4;
    const SHARDS: usize = 12;
    let done = AtomicBool::new(false);
    let settings =
        EngineSettings { shards: ShardLimits { records: 30, ..ShardLimits::default() }, ..EngineSettings::default() };
    let world = World::on_disk().with_settings(settings);
    create(&world, StreamView::NewAndOldImages);
    std::thread::scope(|scope| {
        let (world, done) = (&world, &done);
        let _end = EndOnDrop(done);
        for writer in 0..WRITERS {
            let steps = (0..).take_while(|_| !done.load(Ordering::SeqCst));
            scope.spawn(move || steps.for_each(|step| write_somewhere(world, writer, step)));
        }
        // The writers continue until enough shards were split, however slow they are.
        while world.stream().shards.len() <= SHARDS {
            world.sweep();
        }
    });
    let mut newest: BTreeMap<String, Option<Item>> = BTreeMap::new();
    for record in world.all_records() {
        let before = newest.insert(format!("{:?}", record.keys), record.new.clone()).flatten();
        assert_eq!(before, record.old, "each record goes on where the one before it ended");
    }
    let mut left: Vec<Attributes> = newest.into_values().flatten().map(|item| item.to_attributes()).collect();
    left.sort_by_key(|item| format!("{item:?}"));
    assert_eq!(left, world.scan(None));
}

/// Stops the writers on drop, so also when the test fails.
struct EndOnDrop<'a>(&'a AtomicBool);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn write_somewhere(world: &World, writer: i64, step: i64) {
    let name = format!("item{}", (writer * 7 + step * 3) % 11);
    match (writer + step) % 4 {
        0 => world.delete(item([("pk", name.as_str().into())])),
        _ => world.put(thing(&name, writer * 1000 + step)),
    }
}

fn children_are_told(world: &World, shards: &[Shard]) {
    let arn = world.stream().arn;
    let describe = |request: DescribeStream| {
        let description = world.run(request).unwrap();
        (description.shards, description.last_shard)
    };
    let request = DescribeStream { arn: arn.clone(), children_of: Some(shards[0].id.clone()), ..Default::default() };
    assert_eq!(describe(request), (shards[1..3].to_vec(), None));
    let request = DescribeStream { arn: arn.clone(), limit: Some(2), ..Default::default() };
    assert_eq!(describe(request), (shards[..2].to_vec(), Some(shards[1].id.clone())));
    let request = DescribeStream { arn, start_shard: Some(shards[1].id.clone()), ..Default::default() };
    assert_eq!(describe(request), (shards[2..].to_vec(), None));
}

#[test]
fn records_are_kept_for_a_day() {
    on_both(|world| {
        create(world, StreamView::NewImage);
        world.put(thing("a", 1));
        let old = world.all_records().remove(0);
        world.env.advance_ms(2 * HOUR_MS);
        world.put(thing("a", 2));
        let shard = world.stream().shards.remove(0);
        let start = world.iterator(&shard, ShardPosition::At(old.sequence)).unwrap();
        world.env.advance_ms(22 * HOUR_MS);
        world.sweep();
        world.reopen();
        let kept = world.all_records();
        assert_eq!(kept.len(), 1);
        assert!(message(world.records(start, None)).starts_with("ExpiredIterator"));
        let shard = world.stream().shards.remove(0);
        let trimmed = world.iterator(&shard, ShardPosition::After(old.sequence));
        assert!(message(trimmed).starts_with("TrimmedDataAccessException"));
        world.iterator(&shard, ShardPosition::At(kept[0].sequence)).unwrap();
        world.env.advance_ms(25 * HOUR_MS);
        world.sweep();
        assert_eq!(world.all_records(), []);
        assert_eq!(world.stream().shards.len(), 1, "only the open shard is left");
    });
}

#[test]
fn streams_of_tables_that_follow_each_other_at_one_moment_have_their_own_names() {
    on_both(|world| {
        create(world, StreamView::NewImage);
        world.run(DeleteTable { table: TABLE.to_owned() }).unwrap();
        create(world, StreamView::NewImage);
        assert_eq!(listed(world).len(), 2);
        assert_ne!(listed(world)[0], listed(world)[1]);
    });
}

#[test]
fn a_stream_that_ended_stays_readable_for_a_day() {
    on_both(|world| {
        create(world, StreamView::NewImage);
        world.put(thing("a", 1));
        disable(world);
        world.put(thing("a", 2));
        let first = world.stream();
        assert_eq!((first.status, first.shards[0].end.is_some()), (Status::Deleting, true));
        assert_eq!(world.all_records().len(), 1);
        let on = UpdateTable { stream: Some(StreamChange::Enable(StreamView::KeysOnly)), ..UpdateTable::default() };
        let second = world.update(on).unwrap().stream.unwrap().arn;
        world.put(thing("a", 3));
        assert_eq!(listed(world), [first.arn.clone(), second.clone()]);
        world.run(DeleteTable { table: TABLE.to_owned() }).unwrap();
        world.reopen();
        world.sweep();
        assert_eq!(listed(world), [first.arn, second.clone()]);
        assert_eq!(world.stream_of(&second).status, Status::Deleting);
        world.env.advance_ms(25 * HOUR_MS);
        world.sweep();
        assert_eq!(listed(world), [""; 0]);
    });
}
