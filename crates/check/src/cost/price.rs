//! Dated price table.

use serde::Serialize;

use keyform_language::document::ast::TableClass;

/// Prices in US dollars on a given day.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// Date on which the prices were taken from the provider's pages.
    pub date: &'static str,
    /// The same date in days since 1970.
    #[serde(skip)]
    pub day: u64,
    /// AWS region of the prices.
    pub region: &'static str,
    /// Prices of the standard table class.
    pub standard: ClassPrices,
    /// Prices of the infrequent-access table class.
    pub infrequent: ClassPrices,
}

/// Prices of a table class, in US dollars.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClassPrices {
    /// Price of a million read request units on demand.
    pub million_reads: f64,
    /// Price of a million write request units on demand.
    pub million_writes: f64,
    /// Price of a provisioned read unit for an hour.
    pub read_unit_hour: f64,
    /// Price of a provisioned write unit for an hour.
    pub write_unit_hour: f64,
    /// Price of a stored gigabyte for a month.
    pub gigabyte_month: f64,
    /// Price of a gigabyte of continuous backups for a month.
    pub recovery_gigabyte_month: f64,
}

/// Amazon DynamoDB in us-east-1. Request prices as halved in November 2024.
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
    /// Returns the prices of a table class.
    #[must_use]
    pub fn of(&self, class: TableClass) -> &ClassPrices {
        match class {
            TableClass::Standard => &self.standard,
            TableClass::Infrequent => &self.infrequent,
        }
    }

    /// Returns true if the prices are more than a year old on a day, given in days since 1970.
    #[must_use]
    pub const fn is_old_on_day(&self, day: u64) -> bool {
        day > self.day + 365
    }
}
