//! What is there: a store's tables as it describes them.

use keyform_core::table::TableDescription;
use keyform_core::{Error, ErrorCode, Execute, Operation, Output};

use super::DeployError;

/// The account of stores that stand in for the service: none of Amazon's has it.
const STAND_IN: &str = ":000000000000:";

/// A table that is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// What DescribeTable tells.
    pub description: TableDescription,
    /// The attribute by which its items expire.
    pub ttl: Option<String>,
    /// Whether it has point-in-time recovery; `None` where the store has no such thing.
    pub recovery: Option<bool>,
}

/// Asks a store for tables; those that are not there are left out.
///
/// # Errors
///
/// If the store fails.
pub async fn observe(store: &dyn Execute, tables: &[String]) -> Result<Vec<Live>, DeployError> {
    let mut live = Vec::new();
    for table in tables {
        let found = look(store, table).await;
        live.extend(found.map_err(|error| DeployError::Store { doing: format!("asking for {table}"), error })?);
    }
    Ok(live)
}

async fn look(store: &dyn Execute, table: &str) -> Result<Option<Live>, Error> {
    let Some(description) = describe(store, table).await? else { return Ok(None) };
    let ttl = match store.execute(Operation::DescribeTimeToLive { table: table.to_owned() }).await? {
        Output::DescribeTimeToLive(status) => status.attribute,
        _ => None,
    };
    let recovery = recovery(store, table, &description).await?;
    Ok(Some(Live { description, ttl, recovery }))
}

/// What DescribeTable tells, or nothing if there is no such table.
pub(super) async fn describe(store: &dyn Execute, table: &str) -> Result<Option<TableDescription>, Error> {
    match store.execute(Operation::DescribeTable { table: table.to_owned() }).await {
        Ok(Output::Table(description)) => Ok(Some(*description)),
        Ok(_) => Ok(None),
        Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(None),
        Err(error) => Err(error),
    }
}

async fn recovery(store: &dyn Execute, table: &str, description: &TableDescription) -> Result<Option<bool>, Error> {
    if description.arn.is_empty() || description.arn.contains(STAND_IN) {
        return Ok(None);
    }
    match store.execute(Operation::DescribeContinuousBackups { table: table.to_owned() }).await {
        Ok(Output::ContinuousBackups(backups)) => Ok(Some(backups.recovery)),
        Ok(_) => Ok(None),
        Err(error) if error.code() == ErrorCode::UnknownOperation => Ok(None),
        Err(error) => Err(error),
    }
}
