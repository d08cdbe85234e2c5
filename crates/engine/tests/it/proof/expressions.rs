//! Conditions, updates and projections in isolation: random expressions over random items, evaluated by the core and by
//! the naive implementation.

use keyform_core::Item;
use keyform_core::expression::update;

use crate::proof::generate::{Design, expression, item};
use crate::proof::naive::{apply, holds, project, touched};
use crate::proof::random::Random;

const CASES: u64 = 20_000;
const NAMES: [&str; 11] = ["pk", "a", "b", "c", "g1", "l", "l", "m", "m", "s", "t"];

fn each_case(check: impl Fn(&mut Random, &Design)) {
    let design = Design::random(&mut Random::new(0), "orders", false);
    (0..CASES).for_each(|seed| check(&mut Random::new(seed), &design));
}

#[test]
fn conditions_hold_as_in_the_naive_reading() {
    each_case(|random, design| {
        let condition = expression::condition(random, design, &NAMES, 2);
        let item = random.maybe(90, |random| item::item(random, design));
        let actual = condition.holds(item.as_ref().map(Item::from).as_ref());
        assert_eq!(actual, holds(&condition, item.as_ref()), "{condition:?} of {item:#?}");
    });
}

#[test]
fn projections_show_what_the_naive_reading_shows() {
    each_case(|random, design| {
        let projection = expression::projection(random, &NAMES);
        let item = item::item(random, design);
        let actual = projection.apply(&Item::from(&item)).to_attributes();
        assert_eq!(actual, project(&item, &projection.paths), "{projection:?} of {item:#?}");
    });
}

#[test]
fn updates_make_what_the_naive_reading_makes() {
    each_case(|random, design| {
        let change = expression::update(random, design);
        let item = item::item(random, design);
        match (update::apply(&change, &item), apply(&change, &item)) {
            (Ok(actual), Ok(expected)) => {
                assert_eq!(actual, expected, "{change:#?} of {item:#?}");
                let shown = update::updated_attributes(&change, &Item::from(&actual)).to_attributes();
                assert_eq!(shown, project(&expected, &touched(&change)), "shown of {change:#?} of {item:#?}");
            }
            (Err(_), Err(_)) => {}
            (actual, expected) => panic!("core: {actual:?}\nnaive: {expected:?}\n{change:#?} of {item:#?}"),
        }
    });
}
