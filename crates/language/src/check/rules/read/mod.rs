//! Read patterns: A01 to A18.

mod a01;
mod a02;
mod a03;
mod a04;
mod a05;
mod a06;
mod a07;
mod a08;
mod a09;
mod a10;
mod a11;
mod a12;
mod a13;
mod a14;
mod a15;
mod a16;
mod a17;
mod a18;
mod lookup;
mod remedy;
mod words;

use crate::check::{Context, Rule};
use crate::plan::{Blocked, Obstacle, ReadOutcome};
use crate::schema::Read;

/// The rules of this group.
pub(super) const RULES: &[&Rule] = &[
    &a01::RULE,
    &a02::RULE,
    &a03::RULE,
    &a04::RULE,
    &a05::RULE,
    &a06::RULE,
    &a07::RULE,
    &a08::RULE,
    &a09::RULE,
    &a10::RULE,
    &a11::RULE,
    &a12::RULE,
    &a13::RULE,
    &a14::RULE,
    &a15::RULE,
    &a16::RULE,
    &a17::RULE,
    &a18::RULE,
];

/// Every obstacle of a read, with the read and why it has no plan.
fn obstacles<'a>(context: &Context<'a>) -> impl Iterator<Item = (&'a Read, &'a Blocked, &'a Obstacle)> {
    context
        .model
        .reads
        .iter()
        .zip(&context.plans.reads)
        .filter_map(|(read, outcome)| match outcome {
            ReadOutcome::Blocked(blocked) => Some((read, blocked)),
            ReadOutcome::Planned(_) | ReadOutcome::Broken => None,
        })
        .flat_map(|(read, blocked)| blocked.obstacles.iter().map(move |obstacle| (read, blocked, obstacle)))
}
