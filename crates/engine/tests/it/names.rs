//! Every stored name has 1 to 65,535 bytes, on every path: in-process calls bypass the checks of the wire protocol.

use crate::support::{TABLE, World, on_both, simple_table};
use keyform_core::expression::{Path, PathElement, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::limits::ATTRIBUTE_NAME_BYTES_MAX;
use keyform_core::operation::{BatchWriteItem, PutItem, TransactAction, TransactWriteItems, UpdateItem, WriteRequest};
use keyform_core::{AttributeValue, Attributes, Operation, Value};

fn key() -> Attributes {
    Attributes::from([("pk".to_owned(), AttributeValue::from("a"))])
}

/// Returns the key with an attribute of that name, and with an attribute whose map has an entry of that name.
fn items(name: &str) -> [Attributes; 2] {
    let entry = Attributes::from([(name.to_owned(), AttributeValue::Null)]);
    let nested = Attributes::from([("map".to_owned(), AttributeValue::L(vec![AttributeValue::M(entry.clone())]))]);
    [entry, nested].map(|attributes| attributes.into_iter().chain(key()).collect())
}

fn set(elements: Vec<PathElement>, value: AttributeValue) -> Update {
    let value = SetValue::Operand(UpdateOperand::Value(Value::from(value)));
    Update { set: vec![SetAction { path: Path { elements }, value }], ..Update::default() }
}

fn updates(name: &str) -> [Update; 2] {
    let nested = AttributeValue::M(Attributes::from([(name.to_owned(), AttributeValue::Null)]));
    [
        set(vec![PathElement::Attribute(name.to_owned())], AttributeValue::Null),
        set(vec![PathElement::Attribute("map".to_owned())], nested),
    ]
}

fn puts(item: &Attributes) -> [Operation; 3] {
    let table = || TABLE.to_owned();
    let put =
        TransactAction::Put { table: table(), item: item.clone(), condition: None, return_item_on_failure: false };
    let tables = vec![(table(), vec![WriteRequest::Put(item.clone())])];
    [
        Operation::PutItem(PutItem { table: table(), item: item.clone(), ..PutItem::default() }),
        Operation::TransactWriteItems(TransactWriteItems { actions: vec![put], ..TransactWriteItems::default() }),
        Operation::BatchWriteItem(BatchWriteItem { tables, ..BatchWriteItem::default() }),
    ]
}

fn update(update: Update) -> UpdateItem {
    UpdateItem { table: TABLE.to_owned(), key: key(), update: Some(update), ..UpdateItem::default() }
}

fn ways(name: &str) -> impl Iterator<Item = Operation> {
    let puts = items(name).into_iter().flat_map(|item| puts(&item));
    puts.chain(updates(name).map(|change| update(change).into()))
}

#[test]
fn empty_and_long_names_are_refused_at_every_level() {
    on_both(|world: &mut World| {
        world.create(simple_table());
        let longest = "n".repeat(ATTRIBUTE_NAME_BYTES_MAX);
        for (name, reason) in
            [("", "Empty attribute name"), (&format!("{longest}n"), "maximum size limit of 65535 bytes")]
        {
            for operation in ways(name) {
                let error = world.database.execute_blocking(operation).expect_err("the name is not valid");
                assert!(error.message().contains(reason), "{}", error.message());
            }
        }
        assert_eq!(world.scan(None).len(), 0);
        for operation in ways(&longest) {
            world.database.execute_blocking(operation).expect("the longest name");
        }
        world.scan(None)
    });
}

#[test]
fn an_attribute_with_an_empty_name_can_be_removed() {
    on_both(|world: &mut World| {
        world.create(simple_table());
        world.put(key());
        let removal = Update { remove: vec![Path::attribute("")], ..Update::default() };
        world.run(update(removal)).expect("nothing is written under the name");
        world.scan(None)
    });
}
