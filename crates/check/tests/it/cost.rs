//! Cost estimates: golden reports of `tests/cost/*.kf`.

use std::fs;
use std::path::Path;

use keyform_check::Checked;
use keyform_check::cost::price::PRICES;
use keyform_check::cost::{partition, report, text};
use keyform_language::diagnostic::Severity;
use keyform_language::schema::{EntityId, IndexId};

use crate::golden::compare;

fn market() -> Checked {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cost/market.kf");
    Checked::read(&fs::read_to_string(path).expect("the model can be read"))
}

#[test]
fn a_report_is_the_recorded_one() {
    let checked = market();
    let serious: Vec<_> = checked.diagnostics.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(serious.is_empty(), "{serious:?}");
    let report = report(&checked.model, &checked.plans, &PRICES);
    compare(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cost/market.txt"), &text::text(&report));
}

#[test]
fn items_per_partition_of_an_index_follow_from_its_key() {
    let checked = market();
    let order = EntityId(2);
    let of = |index: Option<usize>| partition::of(&checked.model, order, index.map(IndexId));
    let table = of(None);
    assert_eq!((table.mean, table.max, table.assumed), (250.0, Some(5_000.0), false));
    let by_buyer = of(Some(0));
    assert_eq!((by_buyer.mean, by_buyer.max, by_buyer.assumed), (10.0, Some(200.0), false));
    let by_state = of(Some(1));
    assert_eq!((by_state.mean, by_state.max, by_state.assumed), (62.5, Some(5_000.0), false));
    let queue = of(Some(2));
    assert_eq!((queue.mean, queue.max, queue.assumed), (25.0, Some(5_000.0), true));
}
