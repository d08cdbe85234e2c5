//! Random reads.

use keyform_core::expression::{Comparator, KeyCondition, KeyPredicate, KeyTest, Projection};
use keyform_core::operation::{
    BatchGetItem, BatchGetRequest, GetItem, Operation, Query, Scan, Select, TransactGet, TransactGetItems,
};
use keyform_core::table::{KeySchema, Projection as Copied, ScalarType};
use keyform_core::{Attributes, Value};

use super::expression::{condition, projection};
use super::item::{good_key, key, key_value};
use super::table::{Design, PLAIN};
use super::write::capacity;
use crate::proof::random::Random;

fn all_names() -> Vec<&'static str> {
    ["pk", "sk", "g1", "g2", "g3", "l1"].into_iter().chain(PLAIN).collect()
}

fn maybe_projection(random: &mut Random) -> Option<Projection> {
    random.maybe(40, |random| projection(random, &all_names()))
}

/// Returns a `GetItem`.
pub fn get(random: &mut Random, design: &Design) -> Operation {
    Operation::GetItem(GetItem {
        table: design.create.table.clone(),
        key: key(random, design),
        projection: maybe_projection(random),
        consistent: random.percent(50),
        return_capacity: capacity(random),
    })
}

/// Returns a `BatchGetItem` over all tables.
pub fn batch_get(random: &mut Random, designs: &[Design]) -> Operation {
    let tables = designs.iter().map(|design| {
        let mut keys = Vec::new();
        for key in random.some(1, 5, |random| good_key(random, design)) {
            if !keys.contains(&key) || random.percent(3) {
                keys.push(key);
            }
        }
        let request = BatchGetRequest { keys, projection: maybe_projection(random), consistent: random.percent(50) };
        (design.create.table.clone(), request)
    });
    let tables = tables.collect();
    Operation::BatchGetItem(BatchGetItem { tables, return_capacity: capacity(random) })
}

/// Returns a `TransactGetItems` over several tables.
pub fn transact_get(random: &mut Random, designs: &[Design]) -> Operation {
    let gets = random.some(1, 5, |random| {
        let design = random.pick(designs);
        TransactGet {
            table: design.create.table.clone(),
            key: good_key(random, design),
            projection: maybe_projection(random),
        }
    });
    Operation::TransactGetItems(TransactGetItems { gets, return_capacity: capacity(random) })
}

/// Source of a page: index name, key, projection, and kind.
struct Origin {
    index: Option<String>,
    key: KeySchema,
    copied: Copied,
    global: bool,
}

fn origin(random: &mut Random, design: &Design) -> Origin {
    let base = Origin { index: None, key: design.create.key.clone(), copied: Copied::All, global: false };
    let locals = design.create.local_indexes.iter().map(|index| Origin {
        index: Some(index.name.clone()),
        key: index.key.clone(),
        copied: index.projection.clone(),
        global: false,
    });
    let globals = design.globals.iter().map(|index| Origin {
        index: Some(index.name.clone()),
        key: index.key.clone(),
        copied: index.projection.clone(),
        global: true,
    });
    let mut origins: Vec<Origin> = std::iter::once(base).chain(locals).chain(globals).collect();
    origins.swap_remove(random.below(origins.len()))
}

impl Origin {
    /// Returns the attributes that a projection may contain.
    fn names(&self, design: &Design) -> Vec<&'static str> {
        all_names().into_iter().filter(|name| !self.global || self.has(design, name)).collect()
    }

    /// Returns the attributes that a Query may filter by.
    fn filterable(&self, design: &Design) -> Vec<&'static str> {
        PLAIN.into_iter().filter(|name| !self.key.contains(name) && self.has(design, name)).collect()
    }

    fn has(&self, design: &Design, name: &str) -> bool {
        let keys = self.key.contains(name) || design.create.key.contains(name);
        match &self.copied {
            Copied::All => true,
            Copied::KeysOnly => keys,
            Copied::Include(more) => keys || more.iter().any(|other| other == name),
        }
    }

    fn select(&self, random: &mut Random) -> Option<Select> {
        match random.below(10) {
            0 | 1 => Some(Select::Count),
            2 | 3 if !self.global || self.copied == Copied::All => Some(Select::AllAttributes),
            4 if self.index.is_some() => Some(Select::AllProjectedAttributes),
            _ => None,
        }
    }
}

fn limit(random: &mut Random) -> Option<usize> {
    random.maybe(60, |random| random.between(1, 4))
}

/// Returns a Query of a table or one of its indexes.
pub fn query(random: &mut Random, design: &Design) -> Query {
    let origin = origin(random, design);
    let select = origin.select(random);
    let names = origin.names(design);
    let filterable = origin.filterable(design);
    let key = key_condition(random, design, &origin.key);
    Query {
        table: design.create.table.clone(),
        start: random.maybe(15, |random| start(random, design, &origin.key, &key)),
        key,
        filter: (!filterable.is_empty())
            .then(|| random.maybe(30, |random| condition(random, design, &filterable, 1)))
            .flatten(),
        projection: if select.is_none() { random.maybe(40, |random| projection(random, &names)) } else { None },
        select,
        limit: limit(random),
        consistent: !origin.global && random.percent(50),
        reverse: random.percent(50),
        return_capacity: capacity(random),
        index: origin.index,
    }
}

/// Returns a start key in the partition of the condition, whether an item exists there or not.
fn start(random: &mut Random, design: &Design, key: &KeySchema, condition: &KeyCondition) -> Attributes {
    let names = key.attributes().chain(design.create.key.attributes());
    let mut start: Attributes = names.map(|name| (name.clone(), key_value(random, design.kinds[name]))).collect();
    for predicate in &condition.predicates {
        if let KeyTest::Compare(Comparator::Equal, value) = &predicate.test {
            start.insert(predicate.attribute.clone(), value.to_tree());
        }
    }
    start
}

fn key_condition(random: &mut Random, design: &Design, key: &KeySchema) -> KeyCondition {
    let equal = |random: &mut Random, name: &String| KeyPredicate {
        attribute: name.clone(),
        test: KeyTest::Compare(Comparator::Equal, Value::from(key_value(random, design.kinds[name]))),
    };
    let mut predicates: Vec<KeyPredicate> = key.partition.iter().map(|name| equal(random, name)).collect();
    for name in &key.sort {
        match random.below(10) {
            0..3 => break,
            3..5 => predicates.push(equal(random, name)),
            _ => {
                let test = range(random, design.kinds[name]);
                predicates.push(KeyPredicate { attribute: name.clone(), test });
                break;
            }
        }
    }
    if random.percent(20) {
        predicates.reverse();
    }
    KeyCondition { predicates }
}

fn range(random: &mut Random, kind: ScalarType) -> KeyTest {
    let value = Value::from(key_value(random, kind));
    match random.below(6) {
        0 => KeyTest::Compare(Comparator::Less, value),
        1 => KeyTest::Compare(Comparator::LessOrEqual, value),
        2 => KeyTest::Compare(Comparator::Greater, value),
        3 => KeyTest::Compare(Comparator::GreaterOrEqual, value),
        4 if kind != ScalarType::N => KeyTest::BeginsWith(value),
        _ => {
            let other = Value::from(key_value(random, kind));
            let (low, high) = if value.view().compare(&other.view()).is_some_and(|order| order.is_le()) {
                (value, other)
            } else {
                (other, value)
            };
            KeyTest::Between(low, high)
        }
    }
}

/// Returns a Scan of a table or one of its indexes.
pub fn scan(random: &mut Random, design: &Design) -> Scan {
    let origin = origin(random, design);
    let select = origin.select(random);
    let names = origin.names(design);
    Scan {
        table: design.create.table.clone(),
        filter: random.maybe(30, |random| condition(random, design, &PLAIN, 1)),
        projection: if select.is_none() { random.maybe(40, |random| projection(random, &names)) } else { None },
        select,
        limit: limit(random),
        consistent: !origin.global && random.percent(50),
        segment: None,
        start: None,
        return_capacity: capacity(random),
        index: origin.index,
    }
}
