//! Cost estimate of a model: units, pages, index writes, heat, storage and price, from its plans and declared volumes.
//!
//! 1. [`size`] estimates the size of an item in the table and in each index.
//!    [`partition`] estimates how many items share a partition of the table or of an index.
//! 2. [`read`] and [`mod@write`] count the units of one call of a pattern; [`cascade`] adds the dependents of a delete.
//! 3. [`storage`] estimates the stored bytes, [`migration`] the units of an evolution.
//! 4. [`mod@report`] combines them with [`price`]s; [`text`] formats the report, and [`compare`] compares two models.
//!
//! Volumes the author did not declare are assumed and marked as such. Rates are peaks, and a month has thirty days at
//! the peak, so the result is an upper limit.

pub mod cascade;
pub mod compare;
pub mod migration;
pub mod partition;
pub mod price;
pub mod read;
pub mod report;
pub mod size;
pub mod storage;
pub mod text;
pub mod write;

pub use price::Prices;
pub use report::{Report, report};

use keyform_language::document::ast::{Rate, RateUnit};

/// Seconds in a month of thirty days.
pub const MONTH_SECS: f64 = 30.0 * 86_400.0;

/// Converts a rate to calls per second.
#[must_use]
pub fn per_second(rate: Rate) -> f64 {
    match rate.per {
        RateUnit::Second => rate.count,
        RateUnit::Minute => rate.count / 60.0,
        RateUnit::Hour => rate.count / 3_600.0,
        RateUnit::Day => rate.count / 86_400.0,
    }
}
