//! What a model costs: units, pages, index writes, heat, storage and money, from its plans and its figures.
//!
//! 1. [`size`] says how large an item is, whole and in each index.
//! 2. [`read`] and [`mod@write`] count the units of one call of a pattern; [`cascade`] what a delete brings with it.
//! 3. [`storage`] counts what the items take up.
//! 4. [`mod@report`] puts it together with [`price`]s; [`text`] prints it, [`compare`] sets two models side by side.
//!
//! Figures the author did not give are assumed and marked as such. A month has thirty days, and a rate holds all month.

pub mod cascade;
pub mod compare;
pub mod price;
pub mod read;
pub mod report;
pub mod size;
pub mod storage;
pub mod text;
pub mod write;

pub use price::Prices;
pub use report::{Report, report};

use crate::document::ast::{Rate, RateUnit};

/// Seconds of a month of thirty days.
pub const MONTH_SECS: f64 = 30.0 * 86_400.0;

/// How often a pattern runs a second.
#[must_use]
pub fn per_second(rate: Rate) -> f64 {
    match rate.per {
        RateUnit::Second => rate.count,
        RateUnit::Minute => rate.count / 60.0,
        RateUnit::Hour => rate.count / 3_600.0,
        RateUnit::Day => rate.count / 86_400.0,
    }
}
