//! Exports tables to files and imports files into tables.
//!
//! | format | contents |
//! |---|---|
//! | [`Format::S3`] | layout of DynamoDB's export to S3: manifests with checksums, and gzipped lines |
//! | [`Format::Lines`] | one item of DynamoDB JSON per line: `{"Item":{"pk":{"S":"a"}}}` |
//! | [`Format::Csv`] | CSV as DynamoDB imports it; columns of types other than string name their type: `count:N` |
//!
//! Every value is restored exactly: numbers of 38 digits, sets, binary, NULL, and empty values.
//!
//! 1. [`export()`] reads a table; `lines`, `manifest` and `csv` write the formats.
//! 2. [`import()`] detects the format, reads it with the same modules, and `load` writes batches.

mod columns;
mod csv;
mod export;
mod import;
mod lines;
mod load;
mod manifest;
mod resume;

pub use export::{Export, export};
pub use import::{Import, import};

/// File format of exported items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Layout of DynamoDB's export to S3, in a folder.
    S3,
    /// One item of DynamoDB JSON per line; gzipped if the name ends in `.gz`.
    Lines,
    /// CSV; gzipped if the name ends in `.gz`.
    Csv,
}

impl Format {
    /// Returns the format for a name on the command line.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "s3" => Some(Self::S3),
            "jsonl" => Some(Self::Lines),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}
