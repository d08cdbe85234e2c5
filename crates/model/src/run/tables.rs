//! The store's tables, made as the model wants them.

use std::time::Duration;

use keyform_core::table::Status;
use keyform_core::{ErrorCode, Operation, Output};

use crate::bind;

use super::{Call, RunError, Runner};

/// How long a table may take, together: five minutes.
const LOOKS_MAX: u32 = 600;
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

impl Runner {
    /// Makes the tables that are not there yet, with their indexes, streams and TTL; returns the names of those it made. What is there
    /// is left as it is.
    ///
    /// # Errors
    ///
    /// If the store refuses one.
    pub async fn create_tables(&self) -> Result<Vec<String>, RunError> {
        let nobody = Call::default();
        let inputs = self.inputs(&nobody);
        let mut made = Vec::new();
        for table in &self.checked.model.tables {
            match self.send(Operation::CreateTable(bind::create_table(table, &inputs))).await {
                Ok(_) => {}
                Err(error) if error.code() == ErrorCode::ResourceInUse => continue,
                Err(error) => return Err(error.into()),
            }
            self.wait_until_active(inputs.table_name(table)).await?;
            if let Some(ttl) = bind::time_to_live(table, &inputs) {
                self.send(Operation::UpdateTimeToLive(ttl)).await?;
            }
            made.push(inputs.table_name(table));
        }
        Ok(made)
    }

    /// A store elsewhere makes a table in its own time, and takes nothing for it before.
    async fn wait_until_active(&self, table: String) -> Result<(), RunError> {
        for _ in 0..LOOKS_MAX {
            match self.send(Operation::DescribeTable { table: table.clone() }).await {
                Ok(Output::Table(description)) if description.status == Status::Active => return Ok(()),
                Ok(_) => {}
                // The service may not have heard of the table yet.
                Err(error) if error.code() == ErrorCode::ResourceNotFound => {}
                Err(error) => return Err(error.into()),
            }
            self.surroundings.sleep(BETWEEN_LOOKS).await;
        }
        Err(RunError::Busy)
    }
}
