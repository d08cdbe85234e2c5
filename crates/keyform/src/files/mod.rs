//! Items in files: out of a table, and into one.
//!
//! | format | is |
//! |---|---|
//! | [`Format::S3`] | the layout of DynamoDB's export to S3: manifests with checksums, and gzipped lines |
//! | [`Format::Lines`] | one item of DynamoDB JSON a line: `{"Item":{"pk":{"S":"a"}}}` |
//! | [`Format::Csv`] | a table of cells, as DynamoDB imports it; columns of other types than text say so: `count:N` |
//!
//! Every value comes back exactly as it was: numbers of 38 digits, sets, binary, NULL, and what is empty.
//!
//! 1. [`export()`] reads a table; `lines`, `manifest` and `csv` write what their names say.
//! 2. [`import()`] finds out what a file is, reads it with the same modules, and `load` writes batches.

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

/// How items stand in files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The layout of DynamoDB's export to S3, in a folder.
    S3,
    /// One item of DynamoDB JSON a line; gzipped if the name ends in `.gz`.
    Lines,
    /// Cells; gzipped if the name ends in `.gz`.
    Csv,
}

impl Format {
    /// The format of a name on the command line.
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
