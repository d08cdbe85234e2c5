//! The disk of a database runs out of space or file descriptors and recovers: responses are accurate, the catalog and
//! the statistics match the store, and the database continues without being reopened.

use std::collections::BTreeSet;

use crate::support::{TABLE, World, global_index, item, simple_table};
use keyform_core::error::Detail;
use keyform_core::operation::{GlobalIndexChange, PutItem, TransactAction, TransactWriteItems, UpdateTable};
use keyform_core::table::{ScalarType, StreamView};
use keyform_core::{AttributeValue, Attributes, Error, ErrorCode};
use keyform_engine::store::Scarce;

fn thing(number: u64) -> Attributes {
    item([("pk", format!("thing {number}").as_str().into()), ("g", format!("group {}", number % 3).as_str().into())])
}

fn put(number: u64) -> PutItem {
    PutItem { table: TABLE.to_owned(), item: thing(number), ..PutItem::default() }
}

fn transaction(numbers: std::ops::Range<u64>) -> TransactWriteItems {
    let put_of = |number| TransactAction::Put {
        table: TABLE.to_owned(),
        item: thing(number),
        condition: None,
        return_item_on_failure: false,
    };
    TransactWriteItems { actions: numbers.map(put_of).collect(), ..TransactWriteItems::default() }
}

/// Known outcomes of the writes.
#[derive(Default)]
struct Known {
    there: BTreeSet<u64>,
    unsure: BTreeSet<u64>,
}

impl Known {
    fn note<T>(&mut self, numbers: impl Iterator<Item = u64>, answer: &Result<T, Error>) {
        match answer {
            Ok(_) => self.there.extend(numbers),
            Err(error) if *error.detail() == Detail::OutcomeUnknown => self.unsure.extend(numbers),
            Err(error) => assert!(is_expected(error), "{error}"),
        }
    }

    fn check(&self, items: &[Attributes], context: &str) {
        let number = |item: &Attributes| match &item["pk"] {
            AttributeValue::S(name) => name[6..].parse().unwrap(),
            other => panic!("{other:?}"),
        };
        let found: BTreeSet<u64> = items.iter().map(number).collect();
        assert!(self.there.is_subset(&found), "{context}: {:?} of {found:?}", self.there);
        let more: Vec<&u64> = found.difference(&self.there).filter(|number| !self.unsure.contains(number)).collect();
        assert!(more.is_empty(), "{context}: refused and still written: {more:?}");
    }
}

/// Returns whether the store rejected the write, or the table is missing because its creation was rejected.
fn is_expected(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::InternalServer | ErrorCode::ResourceNotFound)
}

fn work(world: &World) -> Known {
    let mut known = Known::default();
    let mut create = simple_table();
    create.stream = Some(StreamView::NewImage);
    drop(world.run(create));
    for number in 0..8 {
        known.note(number..number + 1, &world.run(put(number)));
    }
    known.note(8..12, &world.run(transaction(8..12)));
    let index = UpdateTable {
        attributes: [("g".to_owned(), ScalarType::S)].into(),
        indexes: vec![GlobalIndexChange::Create(global_index("index", "g"))],
        ..UpdateTable::default()
    };
    drop(world.run(UpdateTable { table: TABLE.to_owned(), ..index }));
    drop(world.database.sweep());
    for number in 12..16 {
        known.note(number..number + 1, &world.run(put(number)));
    }
    known
}

/// Creates the table if it is missing, and retries writes until one succeeds.
fn come_back(world: &World, known: &mut Known) {
    for number in 100.. {
        if let Err(error) = world.run(simple_table()) {
            assert!(matches!(error.code(), ErrorCode::InternalServer | ErrorCode::ResourceInUse), "{error}");
        }
        let answer = world.run(put(number));
        known.note(number..number + 1, &answer);
        if answer.is_ok() {
            return;
        }
        std::thread::yield_now();
    }
}

fn check(world: &World, known: &Known, context: &str) {
    world.sweep();
    let items = world.scan(None);
    known.check(&items, context);
    assert_eq!(world.describe().item_count, items.len() as u64, "{context}");
    if let Some(index) = world.index("index") {
        assert_eq!(world.scan(Some("index")), items, "{context}");
        assert_eq!(index.item_count, items.len() as u64, "{context}");
    }
}

#[test]
fn whatever_is_scarce_and_whenever_the_database_comes_back() {
    let whole = World::on_disk();
    let first = whole.disk().operations();
    assert_eq!(work(&whole).there.len(), 16);
    for scarce in [Scarce::Space, Scarce::Descriptors] {
        for operation in first..whole.disk().operations() {
            let context = format!("{scarce:?} from operation {operation}");
            let mut world = World::on_disk();
            world.disk().starve_at(operation, scarce);
            let mut known = work(&world);
            world.disk().heal();
            come_back(&world, &mut known);
            world.database.health().unwrap();
            check(&world, &known, &context);
            world.reopen();
            check(&world, &known, &format!("{context}, opened again"));
        }
    }
}

#[test]
fn a_refusal_says_what_is_scarce_and_is_one_that_sdks_retry() {
    let world = World::on_disk();
    world.create(simple_table());
    world.disk().starve_at(world.disk().operations(), Scarce::Space);
    let unsure = world.run(put(1)).unwrap_err();
    assert_eq!((unsure.code(), unsure.detail()), (ErrorCode::InternalServer, &Detail::OutcomeUnknown));
    let refused = world.run(put(2)).unwrap_err();
    assert_eq!((refused.code(), refused.detail()), (ErrorCode::InternalServer, &Detail::RefusedForNow));
    assert!(
        refused.message().contains("os error 28") && refused.message().contains("nothing was written"),
        "{refused}"
    );
    assert!(world.scan(None).is_empty(), "reads go on");
}
