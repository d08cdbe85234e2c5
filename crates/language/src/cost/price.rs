//! A dated table of prices.

use serde::Serialize;

use crate::document::ast::TableClass;

/// Prices in dollars, as they were on a day.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// The day the table was taken from the provider's pages.
    pub date: &'static str,
    /// The same day, in days since 1970.
    #[serde(skip)]
    pub day: u64,
    /// Where they hold.
    pub region: &'static str,
    /// Of the standard class.
    pub standard: ClassPrices,
    /// Of the infrequent-access class.
    pub infrequent: ClassPrices,
}

/// Prices of a table class.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClassPrices {
    /// A million read request units on demand.
    pub million_reads: f64,
    /// A million write request units on demand.
    pub million_writes: f64,
    /// A provisioned read unit for an hour.
    pub read_unit_hour: f64,
    /// A provisioned write unit for an hour.
    pub write_unit_hour: f64,
    /// A gigabyte for a month.
    pub gigabyte_month: f64,
    /// A gigabyte of continuous backups for a month.
    pub recovery_gigabyte_month: f64,
}

/// Amazon DynamoDB, us-east-1. The request prices are those since November 2024, when they were halved.
pub const PRICES: Prices = Prices {
    date: "2026-10-01",
    day: 20_727,
    region: "us-east-1",
    standard: ClassPrices {
        million_reads: 0.125,
        million_writes: 0.625,
        read_unit_hour: 0.000_13,
        write_unit_hour: 0.000_65,
        gigabyte_month: 0.25,
        recovery_gigabyte_month: 0.20,
    },
    infrequent: ClassPrices {
        million_reads: 0.155,
        million_writes: 0.78,
        read_unit_hour: 0.000_16,
        write_unit_hour: 0.000_81,
        gigabyte_month: 0.10,
        recovery_gigabyte_month: 0.20,
    },
};

impl Prices {
    /// The prices of a class.
    #[must_use]
    pub fn of(&self, class: TableClass) -> &ClassPrices {
        match class {
            TableClass::Standard => &self.standard,
            TableClass::Infrequent => &self.infrequent,
        }
    }

    /// Whether the table is more than a year old on a day, given in days since 1970.
    #[must_use]
    pub const fn is_old_on_day(&self, day: u64) -> bool {
        day > self.day + 365
    }
}
