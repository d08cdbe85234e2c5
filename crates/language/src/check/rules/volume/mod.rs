//! Figures: V01 to V18. They look at `volume` and rates, and stay silent where the author gave none.

mod v01;
mod v02;
mod v03;
mod v04;
mod v05;
mod v06;
mod v07;
mod v08;
mod v09;
mod v10;
mod v11;
mod v12;
mod v13;
mod v14;
mod v15;
mod v16;
mod v17;
mod v18;

use crate::check::Rule;

/// The rules of this group.
pub(super) const RULES: &[&Rule] = &[
    &v01::RULE,
    &v02::RULE,
    &v03::RULE,
    &v04::RULE,
    &v05::RULE,
    &v06::RULE,
    &v07::RULE,
    &v08::RULE,
    &v09::RULE,
    &v10::RULE,
    &v11::RULE,
    &v12::RULE,
    &v13::RULE,
    &v14::RULE,
    &v15::RULE,
    &v16::RULE,
    &v17::RULE,
    &v18::RULE,
];
