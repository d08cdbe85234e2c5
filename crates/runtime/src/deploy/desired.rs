//! Tables that a model declares, by their names in the store.

use std::collections::BTreeMap;

use keyform_core::operation::CreateTable;

use crate::accept::model_table;
use crate::run::{ANSWERS_EXPIRE, answer_table, cascade_table};
use keyform_language::bind;
use keyform_language::plan::{WritePlan, plan};
use keyform_language::schema::{Model, Table};

use super::DeployError;

/// Table as the model declares it.
#[derive(Clone, Debug, PartialEq)]
pub struct Desired {
    /// Name in the model; for an internal table, its purpose.
    pub name: String,
    /// Set for an internal table of Keyform, which several models share: created if missing, otherwise left unchanged.
    pub own: bool,
    /// Request that creates it, with its name in the store.
    pub create: CreateTable,
    /// Attribute by which items expire; `None` if the table has no TTL.
    pub ttl: Option<String>,
    /// Set if point-in-time recovery is enabled.
    pub recovery: bool,
}

/// Returns the tables of a model, in declaration order.
///
/// # Errors
///
/// Returns an error if a variable in a table name has no value.
pub fn desired(model: &Model, variables: &BTreeMap<String, String>) -> Result<Vec<Desired>, DeployError> {
    model.tables.iter().map(|table| one(table, variables)).collect()
}

/// Returns the internal tables that a model needs at run time: one for accepted models, one for the answers of
/// idempotency keys, one for the intents of cascading deletes.
#[must_use]
pub fn own(model: &Model) -> Vec<Desired> {
    let mut own = vec![own_table("accepted models", model_table(), None)];
    if model.writes.iter().any(|write| write.batch.is_none()) {
        let ttl = Some(ANSWERS_EXPIRE.to_owned());
        own.push(own_table("results of calls with idempotency keys", answer_table(), ttl));
    }
    if plan(model).writes.iter().flatten().any(WritePlan::cascades) {
        own.push(own_table("pending deletes of cascades", cascade_table(), None));
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
        ttl: table.ttl.as_ref().map(|ttl| ttl.value.clone()),
        recovery: table.recovery,
    })
}

/// Returns the first variable that remains in a name.
pub(crate) fn first_variable(name: &str) -> Option<String> {
    let (_, rest) = name.split_once('{')?;
    rest.split_once('}').map(|(variable, _)| variable.to_owned())
}
