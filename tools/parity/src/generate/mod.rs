//! Random requests, most of them valid, some broken on purpose.
//!
//! 1. [`items`], [`reads`], [`groups`], [`legacy`], [`partiql`], [`tables`] and [`resources`] each make valid requests of a kind.
//! 2. [`spoil`] turns a valid request into one that usually violates a rule, sometimes two.
//!
//! [`value`] and [`expression`] generate their parts.

pub mod expression;
pub mod groups;
pub mod items;
pub mod legacy;
pub mod partiql;
pub mod reads;
pub mod resources;
pub mod spoil;
pub mod tables;
pub mod value;

use serde_json::{Value, json};

use crate::random::Random;
use crate::request::Request;
use crate::world::Table;

/// Returns the next random request for the tables.
pub fn request(random: &mut Random, tables: &[Table]) -> Request {
    let table = random.pick(tables);
    let streamed = random.pick(&tables[..tables.len().max(2) - 1]);
    let request = match random.weighted(&[34, 24, 14, 10, 6, 9, 3]) {
        0 => items::request(random, table),
        1 => reads::request(random, table),
        2 => groups::request(random, tables),
        3 => legacy::request(random, table),
        4 => partiql::request(random, table),
        5 => tables::request(random, table, &tables[tables.len() - 1]),
        _ => return resources::request(random, streamed),
    };
    match random.below(100) {
        0..30 => spoil::request(random, request, tables),
        30..35 => {
            let spoiled = spoil::request(random, request, tables);
            spoil::request(random, spoiled, tables)
        }
        _ => request,
    }
}

/// Sometimes adds members that many operations share.
fn decorate(random: &mut Random, body: &mut Value) {
    if random.percent(8) {
        body["ReturnConsumedCapacity"] = json!(random.word(&["TOTAL", "INDEXES", "NONE"]));
    }
}
