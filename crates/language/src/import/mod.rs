//! A starting model from what a team already has: a CloudFormation or SAM template, the answer of DescribeTable, a NoSQL Workbench model.
//!
//! 1. `value` reads JSON or YAML into one form, with CloudFormation's short tags written out.
//! 2. `cloudformation`, `describe_table` and `workbench` find the tables in it.
//! 3. [`print`] writes them as a model: tables, indexes, and an entity for each to begin with. Access patterns are the author's to add.

mod cloudformation;
mod describe_table;
mod print;
mod table;
mod value;
mod workbench;

use std::fmt;

use table::Table;

/// Why nothing could be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportError {
    /// It is neither JSON nor YAML.
    Unreadable(String),
    /// It is none of the forms that are known.
    Unknown,
    /// It has no table.
    NoTable,
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(why) => write!(f, "this is neither JSON nor YAML: {why}"),
            Self::Unknown => f.write_str(
                "this is none of the forms that can be imported: a CloudFormation or SAM template (`Resources`), \
                 the answer of DescribeTable (`Table`), a NoSQL Workbench model (`DataModel`)",
            ),
            Self::NoTable => f.write_str("there is no DynamoDB table in this"),
        }
    }
}

impl std::error::Error for ImportError {}

/// Writes a model of the tables in `text`, under a name.
///
/// # Errors
///
/// If the text is of no known form, or has no table.
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
