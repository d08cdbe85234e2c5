//! Random writes.

use keyform_core::capacity::ReturnConsumedCapacity;
use keyform_core::expression::Condition;
use keyform_core::operation::{
    BatchWriteItem, DeleteItem, Operation, PutItem, ReturnItemCollectionMetrics, ReturnValues, TransactAction,
    TransactWriteItems, UpdateItem, WriteOptions, WriteRequest,
};

use super::expression::{condition, update};
use super::item::{good_key, item, key};
use super::table::Design;
use crate::proof::random::Random;

const NAMES: [&str; 12] = ["pk", "a", "a", "b", "c", "g1", "g2", "l", "m", "s", "t", "pk"];
const TOKENS: [&str; 3] = ["first", "second", "third"];

/// Returns a random detail of the consumed capacity.
pub fn capacity(random: &mut Random) -> ReturnConsumedCapacity {
    *random.pick(&[ReturnConsumedCapacity::None, ReturnConsumedCapacity::Total, ReturnConsumedCapacity::Indexes])
}

fn metrics(random: &mut Random) -> ReturnItemCollectionMetrics {
    *random.pick(&[ReturnItemCollectionMetrics::None, ReturnItemCollectionMetrics::Size])
}

fn maybe_condition(random: &mut Random, design: &Design) -> Option<Condition> {
    random.maybe(35, |random| condition(random, design, &NAMES, 2))
}

fn options(random: &mut Random, design: &Design, values: &[ReturnValues]) -> WriteOptions {
    WriteOptions {
        condition: maybe_condition(random, design),
        return_values: *random.pick(values),
        return_item_on_failure: random.percent(50),
        return_capacity: capacity(random),
        return_metrics: metrics(random),
    }
}

/// Returns a `PutItem`.
pub fn put(random: &mut Random, design: &Design) -> Operation {
    Operation::PutItem(PutItem {
        table: design.create.table.clone(),
        item: item(random, design),
        options: options(random, design, &[ReturnValues::None, ReturnValues::AllOld]),
    })
}

/// Returns an `UpdateItem`.
pub fn update_item(random: &mut Random, design: &Design) -> Operation {
    const VALUES: [ReturnValues; 5] = [
        ReturnValues::None,
        ReturnValues::AllOld,
        ReturnValues::UpdatedOld,
        ReturnValues::AllNew,
        ReturnValues::UpdatedNew,
    ];
    Operation::UpdateItem(UpdateItem {
        table: design.create.table.clone(),
        key: key(random, design),
        update: random.maybe(95, |random| update(random, design)),
        options: options(random, design, &VALUES),
    })
}

/// Returns a `DeleteItem`.
pub fn delete(random: &mut Random, design: &Design) -> Operation {
    Operation::DeleteItem(DeleteItem {
        table: design.create.table.clone(),
        key: key(random, design),
        options: options(random, design, &[ReturnValues::None, ReturnValues::AllOld]),
    })
}

/// Returns a `BatchWriteItem`, usually without duplicate items.
pub fn batch_write(random: &mut Random, designs: &[Design]) -> Operation {
    let mut tables = Vec::new();
    for design in designs {
        let mut keys = Vec::new();
        let mut writes = Vec::new();
        for _ in 0..random.between(1, 5) {
            let key = good_key(random, design);
            if keys.contains(&key) && !random.percent(2) {
                continue;
            }
            keys.push(key.clone());
            writes.push(if random.percent(70) {
                let mut whole = item(random, design);
                whole.extend(key);
                WriteRequest::Put(whole)
            } else {
                WriteRequest::Delete(key)
            });
        }
        tables.push((design.create.table.clone(), writes));
    }
    Operation::BatchWriteItem(BatchWriteItem {
        tables,
        return_capacity: capacity(random),
        return_metrics: metrics(random),
    })
}

/// Returns a `TransactWriteItems`, usually without duplicate items.
pub fn transact_write(random: &mut Random, designs: &[Design]) -> Operation {
    let mut keys = Vec::new();
    let mut actions = Vec::new();
    for _ in 0..random.between(1, 5) {
        let design = random.pick(designs);
        let key = good_key(random, design);
        let place = (design.create.table.clone(), key.clone());
        if keys.contains(&place) && !random.percent(2) {
            continue;
        }
        keys.push(place);
        actions.push(action(random, design, key));
    }
    Operation::TransactWriteItems(TransactWriteItems {
        actions,
        token: random.maybe(20, |random| (*random.pick(&TOKENS)).to_owned()),
        return_capacity: capacity(random),
        return_metrics: metrics(random),
    })
}

fn action(random: &mut Random, design: &Design, key: keyform_core::Attributes) -> TransactAction {
    let table = design.create.table.clone();
    let condition = random.maybe(15, |random| condition(random, design, &NAMES, 1));
    let return_item_on_failure = random.percent(50);
    match random.below(10) {
        0..4 => {
            let mut whole = item(random, design);
            whole.extend(key);
            TransactAction::Put { table, item: whole, condition, return_item_on_failure }
        }
        4..7 => {
            let update = update(random, design);
            TransactAction::Update { table, key, update, condition, return_item_on_failure }
        }
        7 | 8 => TransactAction::Delete { table, key, condition, return_item_on_failure },
        _ => {
            let exists = Condition::AttributeExists(keyform_core::expression::Path::attribute("pk"));
            TransactAction::Check { table, key, condition: condition.unwrap_or(exists), return_item_on_failure }
        }
    }
}
