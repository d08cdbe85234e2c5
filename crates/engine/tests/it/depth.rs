//! Everything that is written can be read again: items that are nested too deeply are rejected on every path.

use crate::support::{TABLE, World, on_both, simple_table};
use keyform_core::operation::{BatchWriteItem, PutItem, Scan, TransactAction, TransactWriteItems, WriteRequest};
use keyform_core::{AttributeValue, Attributes, Operation};

/// Returns an item with an attribute nested `levels` deep.
fn item(levels: usize) -> Attributes {
    let deep = (1..levels).fold(AttributeValue::from("in the middle"), |inner, _| AttributeValue::L(vec![inner]));
    Attributes::from([("pk".to_owned(), AttributeValue::from(format!("of {levels}"))), ("deep".to_owned(), deep)])
}

fn ways(levels: usize) -> [Operation; 3] {
    let table = || TABLE.to_owned();
    let put =
        TransactAction::Put { table: table(), item: item(levels), condition: None, return_item_on_failure: false };
    let tables = vec![(table(), vec![WriteRequest::Put(item(levels))])];
    [
        Operation::PutItem(PutItem { table: table(), item: item(levels), ..PutItem::default() }),
        Operation::TransactWriteItems(TransactWriteItems { actions: vec![put], ..TransactWriteItems::default() }),
        Operation::BatchWriteItem(BatchWriteItem { tables, ..BatchWriteItem::default() }),
    ]
}

#[test]
fn an_item_of_33_levels_is_refused_and_one_of_32_can_be_read() {
    on_both(|world: &mut World| {
        world.create(simple_table());
        for operation in ways(33) {
            let error = world.database.execute_blocking(operation).expect_err("too deep");
            assert!(error.message().contains("Nesting Levels have exceeded supported limits"), "{}", error.message());
        }
        for operation in ways(32) {
            world.database.execute_blocking(operation).expect("as deep as may be");
        }
        let found = world.run(Scan::of(TABLE)).expect("it can be read");
        found.items.iter().flatten().map(keyform_core::Item::to_attributes).collect::<Vec<_>>()
    });
}
