//! The tables a model wants, by their names in the store.

use std::collections::BTreeMap;

use keyform_core::operation::CreateTable;

use crate::run::{ANSWERS_EXPIRE, answer_table, cascade_table};
use keyform_language::bind;
use keyform_language::plan::{WritePlan, plan};
use keyform_language::schema::{Model, Table};

use super::DeployError;

/// A table as the model wants it.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired {
    /// Its name in the model; of a table of Keyform's own, what it is for.
    pub name: String,
    /// It is Keyform's own, which several models share: made if it is not there, and else left as it is.
    pub own: bool,
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

/// The tables of Keyform's own that a model at work needs: for the answers of writes under idempotency keys, and for the intents of deletes
/// that cascade.
#[must_use]
pub fn own(model: &Model) -> Vec<Desired> {
    let mut own = Vec::new();
    if model.writes.iter().any(|write| write.batch.is_none()) {
        let ttl = Some(ANSWERS_EXPIRE.to_owned());
        own.push(own_table("what idempotency keys have done", answer_table(), ttl));
    }
    if plan(model).writes.iter().flatten().any(WritePlan::cascades) {
        own.push(own_table("what deletes have still to remove", cascade_table(), None));
    }
    own
}

fn own_table(purpose: &str, create: CreateTable, ttl: Option<String>) -> Desired {
    Desired { name: purpose.to_owned(), own: true, create, ttl, recovery: false }
}

fn one(table: &Table, variables: &BTreeMap<String, String>) -> Result<Desired, DeployError> {
    let name = bind::table_name(table, variables);
    if let Some(variable) = first_variable(&name) {
        return Err(DeployError::NoValue { table: table.physical.clone(), variable });
    }
    Ok(Desired {
        name: table.name.clone(),
        own: false,
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
