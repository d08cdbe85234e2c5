//! Imports a starting model from existing definitions: a CloudFormation or SAM template, the output of DescribeTable,
//! or a NoSQL Workbench model.
//!
//! 1. `value` parses JSON or YAML into one form and expands CloudFormation's short tags.
//! 2. `cloudformation`, `describe_table` and `workbench` find the tables.
//! 3. [`print`] formats them as a model: tables, indexes, and a first entity for each. The author adds the access
//!    patterns.

mod cloudformation;
mod describe_table;
mod print;
mod table;
mod value;
mod workbench;

use std::fmt;

use table::Table;

/// Reason an import failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportError {
    /// Neither JSON nor YAML.
    Unreadable(String),
    /// Not a supported format.
    Unknown,
    /// Supported format, but without a table.
    NoTable,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "neither JSON nor YAML: {why}"),
            Self::Unknown => f.write_str(
                "unknown format; supported are a CloudFormation or SAM template (`Resources`), the answer of \
                DescribeTable (`Table`) and a NoSQL Workbench model (`DataModel`)",
            ),
            Self::NoTable => f.write_str("the file contains no DynamoDB table"),
        }
    }
}

impl std::error::Error for ImportError {}

/// Generates a model with this name from the tables in `text`.
///
/// # Errors
///
/// Returns an error if the format is not supported or no table was found.
pub fn import(text: &str, name: &str) -> Result<String, ImportError> {
    let value = value::read(text)?;
    let tables: Vec<Table> = if value.get("DataModel").is_some() {
        workbench::tables(&value)
    } else if value.get("Resources").is_some() {
        cloudformation::tables(&value)
    } else if let Some(described) = describe_table::answers(&value) {
        described.into_iter().filter_map(describe_table::table).collect()
    } else {
        return Err(ImportError::Unknown);
    };
    if tables.is_empty() {
        return Err(ImportError::NoTable);
    }
    Ok(print::model(name, &tables))
}
