//! The 4 MB limit of a transaction: written items count, and the keys of deletes and checks.

use crate::support::{TABLE, World, item, message, on_both, simple_table};
use keyform_core::expression::{Condition, Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::operation::{TransactAction, TransactWriteItems, TransactWriteItemsOutput};
use keyform_core::{AttributeValue, Attributes, Error, Value};

const LARGE_BYTES: usize = 390 * 1024;
/// Number of large items that together exceed 4 MB.
const TOO_MANY: usize = 11;

fn key(number: usize) -> Attributes {
    item([("pk", format!("item {number:02}").into())])
}

fn large(number: usize) -> Attributes {
    key(number).into_iter().chain(item([("text", "x".repeat(LARGE_BYTES).into())])).collect()
}

fn transact(world: &World, action: impl Fn(usize) -> TransactAction) -> Result<TransactWriteItemsOutput, Error> {
    let actions = (0..TOO_MANY).map(action).collect();
    world.run(TransactWriteItems { actions, ..TransactWriteItems::default() })
}

fn put(number: usize) -> TransactAction {
    TransactAction::Put { table: TABLE.into(), item: large(number), condition: None, return_item_on_failure: false }
}

fn delete(number: usize) -> TransactAction {
    TransactAction::Delete { table: TABLE.into(), key: key(number), condition: None, return_item_on_failure: false }
}

fn check(number: usize) -> TransactAction {
    let condition = Condition::AttributeExists(Path::attribute("text"));
    TransactAction::Check { table: TABLE.into(), key: key(number), condition, return_item_on_failure: false }
}

fn set(number: usize, name: &str, value: AttributeValue) -> TransactAction {
    let value = SetValue::Operand(UpdateOperand::Value(Value::from(value)));
    let update = Update { set: vec![SetAction { path: Path::attribute(name), value }], ..Update::default() };
    TransactAction::Update {
        table: TABLE.into(),
        key: key(number),
        update,
        condition: None,
        return_item_on_failure: false,
    }
}

fn world_of_large_items(world: &World) {
    world.create(simple_table());
    (0..TOO_MANY).for_each(|number| world.put(large(number)));
}

#[test]
fn large_items_are_checked_and_deleted_in_one_transaction() {
    on_both(|world: &mut World| {
        world_of_large_items(world);
        transact(world, check).expect("checks carry nothing");
        transact(world, delete).expect("deletes carry nothing");
        assert_eq!(world.scan(None).len(), 0);
    });
}

#[test]
fn more_than_four_megabytes_are_not_written_in_one_transaction() {
    on_both(|world: &mut World| {
        world_of_large_items(world);
        let refused = "aggregate size of the items in the transaction exceeding the 4MB limit";
        assert!(message(transact(world, put)).contains(refused));
        assert!(message(transact(world, |number| set(number, "small", 1.into()))).contains(refused));
        assert!(
            message(transact(world, |number| set(number, "text", "y".repeat(LARGE_BYTES).into()))).contains(refused)
        );
        transact(world, |number| set(number, "text", "short".into())).expect("what is written is small");
        world.describe().item_count
    });
}
