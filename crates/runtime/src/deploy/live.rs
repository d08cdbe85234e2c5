//! Existing tables, as the store describes them.

use keyform_core::operation::{DescribeContinuousBackups, DescribeTable, DescribeTimeToLive};
use keyform_core::table::TableDescription;
use keyform_core::{Error, ErrorCode, Execute, ExecuteExt};

use super::DeployError;

/// Account id of DynamoDB emulators; no AWS account has it.
const STAND_IN: &str = ":000000000000:";

/// Table as the store describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Output of DescribeTable.
    pub description: TableDescription,
    /// Attribute by which items expire; `None` if TTL is disabled.
    pub ttl: Option<String>,
    /// State of point-in-time recovery; `None` if the store does not support it.
    pub recovery: Option<bool>,
}

/// Describes tables; leaves out those that do not exist.
///
/// # Errors
///
/// Returns an error if the store fails.
pub async fn observe(store: &dyn Execute, tables: &[String]) -> Result<Vec<Live>, DeployError> {
    let mut live = Vec::new();
    for table in tables {
        let found = look(store, table).await;
        live.extend(found.map_err(|error| DeployError::Store { doing: format!("describing {table}"), error })?);
    }
    Ok(live)
}

async fn look(store: &dyn Execute, table: &str) -> Result<Option<Live>, Error> {
    let Some(description) = describe(store, table).await? else { return Ok(None) };
    let ttl = store.call(DescribeTimeToLive { table: table.to_owned() }).await?.attribute;
    let recovery = recovery(store, table, &description).await?;
    Ok(Some(Live { description, ttl, recovery }))
}

/// Returns the output of DescribeTable; `None` if the table does not exist.
pub(super) async fn describe(store: &dyn Execute, table: &str) -> Result<Option<TableDescription>, Error> {
    match store.call(DescribeTable { table: table.to_owned() }).await {
        Ok(description) => Ok(Some(*description)),
        Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(None),
        Err(error) => Err(error),
    }
}

async fn recovery(store: &dyn Execute, table: &str, description: &TableDescription) -> Result<Option<bool>, Error> {
    if description.arn.is_empty() || description.arn.contains(STAND_IN) {
        return Ok(None);
    }
    match store.call(DescribeContinuousBackups { table: table.to_owned() }).await {
        Ok(backups) => Ok(Some(backups.recovery)),
        Err(error) if error.code() == ErrorCode::UnknownOperation => Ok(None),
        Err(error) => Err(error),
    }
}
