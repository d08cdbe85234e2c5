//! Expired items are deleted within seconds, by ordinary deletes that update indexes and streams, marked as TTL
//! deletions.

use crate::support::{START_MS, TABLE, World, global_index, item, on_both, simple_table};
use keyform_core::operation::{
    ChangeKind, TimeToLive, TransactAction, TransactWriteItems, UpdateTimeToLive, UserIdentity,
};
use keyform_core::table::{ScalarType, StreamView};
use keyform_core::{AttributeValue, Attributes};

const NOW_SECS: i64 = (START_MS / 1000) as i64;
const FIVE_YEARS_SECS: i64 = 5 * 365 * 24 * 60 * 60;

fn switch(world: &World, enabled: bool) {
    let setting = TimeToLive { attribute: "ends".to_owned(), enabled };
    world.run(UpdateTimeToLive { table: TABLE.to_owned(), setting }).unwrap();
}

fn table_with_index_and_stream(world: &World) {
    let mut request = simple_table();
    request.attributes.insert("g".to_owned(), ScalarType::S);
    request.global_indexes.push(global_index("index", "g"));
    request.stream = Some(StreamView::NewAndOldImages);
    world.create(request);
}

fn thing(name: &str, ends: impl Into<AttributeValue>) -> Attributes {
    item([("pk", name.into()), ("g", "x".into()), ("ends", ends.into())])
}

fn names(items: &[Attributes]) -> Vec<String> {
    items.iter().map(|item| format!("{:?}", item["pk"])).collect()
}

#[test]
fn expired_items_go_from_table_and_index_and_the_stream_says_who_did_it() {
    on_both(|world| {
        table_with_index_and_stream(world);
        switch(world, true);
        world.put(thing("soon", NOW_SECS + 10));
        world.put(thing("later", NOW_SECS + 100));
        world.put(thing("text", "1"));
        world.put(thing("long ago", NOW_SECS - FIVE_YEARS_SECS - 100));
        world.env.advance_ms(10_000);
        world.sweep();
        assert_eq!(world.scan(None).len(), 4, "an item ends when its second is over");
        world.env.advance_ms(1_000);
        world.sweep();
        assert_eq!(names(&world.scan(None)), names(&world.scan(Some("index"))));
        assert_eq!(world.scan(None).len(), 3);
        let records = world.all_records();
        let last = records.last().unwrap();
        assert_eq!((last.kind, last.identity), (ChangeKind::Remove, Some(UserIdentity::TimeToLive)));
        assert_eq!(last.old.as_ref().map(|item| item.to_attributes()), Some(thing("soon", NOW_SECS + 10)));
        assert_eq!(records.iter().filter(|record| record.identity.is_some()).count(), 1);
        records
    });
}

#[test]
fn any_number_of_seconds_counts_as_a_time_and_nothing_else_does() {
    on_both(|world| {
        table_with_index_and_stream(world);
        switch(world, true);
        let number = |text: &str| AttributeValue::N(text.parse().unwrap());
        let past = NOW_SECS - 100;
        let expiring = [format!("{past}.5"), format!("{past}.99999999999999999999"), format!("{past}00e-2"), {
            let (first, rest) = (past / 1_000_000_000, past % 1_000_000_000);
            format!("{first}.{rest:09}E+9")
        }];
        for text in &expiring {
            world.put(thing(text, number(text)));
        }
        let staying = [
            format!("{}.5", NOW_SECS + 1000),
            format!("{NOW_SECS}.5"),
            format!("-{past}.5"),
            format!("-{past}"),
            "0.5".to_owned(),
            "-0.5".to_owned(),
            "1e-130".to_owned(),
            "9.9e125".to_owned(),
            "-9.9e125".to_owned(),
            "9223372036854775807".to_owned(),
            "9223372036854775808.5".to_owned(),
            format!("{}.5", NOW_SECS - FIVE_YEARS_SECS - 2),
            format!("{past}000"),
        ];
        for text in &staying {
            world.put(thing(text, number(text)));
        }
        world.sweep();
        let mut left: Vec<String> =
            staying.iter().map(|text| format!("{:?}", AttributeValue::from(text.as_str()))).collect();
        let mut found = names(&world.scan(None));
        left.sort();
        found.sort();
        assert_eq!(found, left);
        world.env.advance_ms(1_000);
        world.sweep();
        assert_eq!(world.scan(None).len(), staying.len() - 1, "a fraction ends with its second");
    });
}

#[test]
fn a_time_with_a_fraction_can_be_moved() {
    on_both(|world| {
        table_with_index_and_stream(world);
        switch(world, true);
        let number = |text: String| AttributeValue::N(text.parse().unwrap());
        world.put(thing("a", number(format!("{}.25", NOW_SECS - 10))));
        world.put(thing("a", number(format!("{}.75", NOW_SECS + 10))));
        world.sweep();
        assert_eq!(world.scan(None).len(), 1);
        world.env.advance_ms(12_000);
        world.sweep();
        assert_eq!(world.scan(None).len(), 0);
    });
}

#[test]
fn an_item_whose_time_was_moved_stays() {
    on_both(|world| {
        table_with_index_and_stream(world);
        switch(world, true);
        world.put(thing("a", NOW_SECS + 10));
        world.put(thing("a", NOW_SECS + 1000));
        world.put(thing("b", NOW_SECS + 10));
        world.put(item([("pk", "b".into())]));
        world.env.advance_ms(60_000);
        world.sweep();
        assert_eq!(world.scan(None).len(), 2);
    });
}

#[test]
fn items_from_before_the_switch_expire_too_and_a_switch_off_ends_it() {
    on_both(|world| {
        table_with_index_and_stream(world);
        (0..300).for_each(|number| world.put(thing(&format!("old{number}"), NOW_SECS + number)));
        switch(world, true);
        world.reopen();
        world.env.advance_ms(100_500);
        world.sweep();
        assert_eq!(world.scan(None).len(), 200);
        switch(world, false);
        world.put(thing("new", NOW_SECS + 1));
        world.env.advance_ms(100_000);
        world.sweep();
        assert_eq!(world.scan(None).len(), 201);
        switch(world, true);
        world.sweep();
        assert_eq!(world.scan(None).len(), 100);
        world.describe().item_count
    });
}

#[test]
fn an_item_of_a_transaction_under_way_is_left_alone() {
    on_both(|world| {
        table_with_index_and_stream(world);
        switch(world, true);
        let put = TransactAction::Put {
            table: TABLE.to_owned(),
            item: thing("a", NOW_SECS - 10),
            condition: None,
            return_item_on_failure: false,
        };
        let request = TransactWriteItems { actions: vec![put], ..TransactWriteItems::default() };
        let under_way = world.database.call(request);
        world.sweep();
        assert_eq!(world.scan(None).len(), 1);
        drop(under_way);
        world.sweep();
        assert_eq!(world.scan(None).len(), 0);
    });
}
