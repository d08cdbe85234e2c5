//! Indexes added to tables with items: their content equals a recomputation from the items.

use crate::support::{World, global_index, item, message, on_both, simple_table};
use keyform_core::operation::{GlobalIndexChange, UpdateTable};
use keyform_core::table::{ScalarType, Status};
use keyform_core::{AttributeValue, Attributes};

fn create_index() -> UpdateTable {
    UpdateTable {
        attributes: [("g".to_owned(), ScalarType::S)].into(),
        indexes: vec![GlobalIndexChange::Create(global_index("index", "g"))],
        ..UpdateTable::default()
    }
}

fn thing(number: usize, group: Option<AttributeValue>) -> Attributes {
    let mut thing = item([("pk", format!("item{number:03}").as_str().into()), ("n", (number as i64).into())]);
    thing.extend(group.map(|group| ("g".to_owned(), group)));
    thing
}

/// Returns the items that belong in the index.
fn recomputed(world: &World) -> Vec<Attributes> {
    let belongs = |item: &Attributes| matches!(item.get("g"), Some(AttributeValue::S(text)) if !text.is_empty());
    world.scan(None).into_iter().filter(belongs).collect()
}

fn size(items: &[Attributes]) -> u64 {
    items.iter().map(|item| keyform_core::value::size::of_attributes(item) as u64).sum()
}

#[test]
fn existing_items_are_copied_and_those_of_the_wrong_type_left_out() {
    on_both(|world| {
        world.create(simple_table());
        for number in 0..600 {
            let group = match number % 4 {
                0 => None,
                1 => Some(7.into()),
                2 => Some(AttributeValue::Null),
                _ => Some(format!("group{}", number % 5).as_str().into()),
            };
            world.put(thing(number, group));
        }
        world.update(create_index()).unwrap();
        world.put(thing(3, Some("moved".into())));
        world.delete(item([("pk", "item007".into())]));
        world.sweep();
        let expected = recomputed(world);
        assert_eq!(expected.len(), 149);
        assert_eq!(world.scan(Some("index")), expected);
        let described = world.index("index").unwrap();
        assert_eq!((described.item_count, described.size_bytes), (149, size(&expected)));
        world.reopen();
        assert_eq!(world.scan(Some("index")), expected);
        world.index("index")
    });
}

#[test]
fn an_index_being_made_cannot_be_read_and_is_made_after_a_restart() {
    let mut world = World::on_disk();
    world.create(simple_table());
    (0..10).for_each(|number| world.put(thing(number, Some("x".into()))));
    world.update(create_index()).unwrap();
    world.cut_power();
    assert_eq!(world.index("index").map(|index| index.status), Some(Status::Creating));
    assert!(world.describe().global_indexes[0].backfilling);
    assert!(message(world.try_scan(Some("index"))).contains("Cannot read from backfilling global secondary index"));
    world.sweep();
    assert_eq!(world.scan(Some("index")).len(), 10);
}

#[test]
fn an_index_deleted_while_it_is_being_made_is_gone_and_its_name_is_free() {
    on_both(|world| {
        world.create(simple_table());
        (0..10).for_each(|number| world.put(thing(number, Some("x".into()))));
        world.update(create_index()).unwrap();
        let remove = GlobalIndexChange::Delete { name: "index".to_owned() };
        world.update(UpdateTable { indexes: vec![remove], ..UpdateTable::default() }).unwrap();
        assert!(message(world.update(create_index())).contains("already exists"));
        world.sweep();
        assert_eq!(world.index("index"), None);
        world.update(create_index()).unwrap();
        world.sweep();
        world.reopen();
        world.scan(Some("index"))
    });
}

#[test]
fn writes_go_on_while_an_index_is_filled() {
    const WRITERS: usize = 4;
    const ITEMS: usize = 97;
    let world = World::on_disk();
    world.create(simple_table());
    (0..ITEMS).for_each(|number| world.put(thing(number, Some(format!("old{}", number % 3).as_str().into()))));
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let world = &world;
            scope.spawn(move || write_here_and_there(world, writer, ITEMS));
        }
        world.update(create_index()).unwrap();
        world.sweep();
    });
    world.sweep();
    let expected = recomputed(&world);
    assert_eq!(world.scan(Some("index")), expected);
    let described = world.index("index").unwrap();
    assert_eq!((described.item_count, described.size_bytes), (expected.len() as u64, size(&expected)));
    assert_eq!(world.describe().item_count, world.scan(None).len() as u64);
}

#[test]
fn statistics_are_counted_anew_while_writes_go_on() {
    const ITEMS: usize = 97;
    let mut world = World::on_disk();
    world.create(simple_table());
    (0..ITEMS).for_each(|number| world.put(thing(number, Some("x".into()))));
    world.update(create_index()).unwrap();
    world.sweep();
    world.cut_power();
    assert_eq!(world.describe().item_count, 0, "not known yet");
    std::thread::scope(|scope| {
        let world = &world;
        (0..4).for_each(|writer| drop(scope.spawn(move || write_here_and_there(world, writer, ITEMS))));
        world.sweep();
    });
    let (items, entries) = (world.scan(None), world.scan(Some("index")));
    let (table, index) = (world.describe(), world.index("index").unwrap());
    assert_eq!((table.item_count, table.size_bytes), (items.len() as u64, size(&items)));
    assert_eq!((index.item_count, index.size_bytes), (entries.len() as u64, size(&entries)));
}

fn write_here_and_there(world: &World, writer: usize, items: usize) {
    for step in 0..300 {
        let number = (step * 31 + writer * 17) % items;
        match (step + writer) % 5 {
            0 => world.delete(item([("pk", format!("item{number:03}").as_str().into())])),
            1 => world.put(thing(number, None)),
            _ => world.put(thing(number, Some(format!("new{}", step % 7).as_str().into()))),
        }
    }
}
