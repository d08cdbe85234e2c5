//! The tables a model wants, by their names in the store.

use std::collections::BTreeMap;

use keyform_core::operation::CreateTable;

use crate::bind;
use crate::schema::{Model, Table};

use super::DeployError;

/// A table as the model wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired {
    /// Its name in the model.
    pub name: String,
    /// The request that makes it, with its name in the store.
    pub create: CreateTable,
    /// The attribute by which its items expire.
    pub ttl: Option<String>,
    /// Whether it has point-in-time recovery.
    pub recovery: bool,
}

/// The tables of a model, in the order of the file.
///
/// # Errors
///
/// If a variable in a table's name has no value.
pub fn desired(model: &Model, variables: &BTreeMap<String, String>) -> Result<Vec<Desired>, DeployError> {
    model.tables.iter().map(|table| one(table, variables)).collect()
}

fn one(table: &Table, variables: &BTreeMap<String, String>) -> Result<Desired, DeployError> {
    let name = bind::table_name(table, variables);
    if let Some(variable) = first_variable(&name) {
        return Err(DeployError::NoValue { table: table.physical.clone(), variable });
    }
    Ok(Desired {
        name: table.name.clone(),
        create: bind::table_request(table, name),
        ttl: table.ttl.as_ref().map(|(attribute, _)| attribute.clone()),
        recovery: table.recovery,
    })
}

/// The first variable that still stands in a name.
pub(crate) fn first_variable(name: &str) -> Option<String> {
    let (_, rest) = name.split_once('{')?;
    rest.split_once('}').map(|(variable, _)| variable.to_owned())
}
