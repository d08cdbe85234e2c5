//! Compares a model with other models that use the same tables.
//!
//! A model under another name has a record of its own. It finds the items of a table only if it describes them as the
//! model that wrote them does. It is compared once: later versions are compared with its own record, so that a model
//! that is no longer used does not refuse changes for ever.

use std::collections::{BTreeMap, BTreeSet};

use keyform_check::check::{self, Stored};
use keyform_core::operation::DescribeTable;
use keyform_core::{Error, ErrorCode, Execute, ExecuteExt as _};
use keyform_language::document::json;

use super::record::{self, Record};
use super::{AcceptError, Candidate, Reason};

/// Compares a candidate with the other models of the tables that its accepted version does not use.
///
/// # Errors
///
/// Returns [`AcceptError::NotAccepted`] if the candidate does not fit the items of another model.
pub(super) async fn compare(
    store: &dyn Execute,
    candidate: &Candidate,
    before: Option<&Record>,
) -> Result<(), AcceptError> {
    let mut tables = candidate.stored().tables();
    match before {
        // Without a list of tables, the accepted version is taken to use all of them.
        Some(before) if before.tables.is_empty() => return Ok(()),
        Some(before) => tables.retain(|table| !before.tables.contains(table)),
        None => {}
    }
    if tables.is_empty() {
        return Ok(());
    }
    for other in record::load_others(store, &candidate.id).await? {
        compare_with(store, candidate, &other, &tables).await?;
    }
    Ok(())
}

async fn compare_with(
    store: &dyn Execute,
    candidate: &Candidate,
    other: &Record,
    tables: &BTreeSet<String>,
) -> Result<(), AcceptError> {
    if !other.tables.is_empty() && other.tables.is_disjoint(tables) {
        return Ok(());
    }
    // A record that was replaced meanwhile, or that a newer version of Keyform wrote, says nothing about this model.
    let Some(Ok(document)) = record::load_json(store, other).await?.map(|json| json::from_json(&json)) else {
        return Ok(());
    };
    let variables = variables_of(&other.id);
    let stored = Stored { document: &document, variables: &variables };
    let shared: BTreeSet<String> = stored.tables().intersection(tables).cloned().collect();
    if shared.is_empty() || check::breaking_beside(stored, candidate.stored(), &shared).is_empty() {
        return Ok(());
    }
    let findings = check::breaking_beside(stored, candidate.stored(), &existing(store, shared).await?);
    if findings.is_empty() {
        return Ok(());
    }
    Err(candidate.refused(other, Reason::BreakingOther { other: other.id.clone(), findings }).into())
}

/// Returns the variables in the id of a record: `model chat stage=prod`.
fn variables_of(id: &str) -> BTreeMap<String, String> {
    let pairs = id.split(' ').skip(2).filter_map(|word| word.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns the tables that the store has: a deleted table has no items to break.
async fn existing(store: &dyn Execute, tables: BTreeSet<String>) -> Result<BTreeSet<String>, Error> {
    let mut existing = BTreeSet::new();
    for table in tables {
        match store.call(DescribeTable { table: table.clone() }).await {
            Ok(_) => _ = existing.insert(table),
            Err(error) if error.code() == ErrorCode::ResourceNotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(existing)
}
