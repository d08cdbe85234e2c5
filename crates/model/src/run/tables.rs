//! The store's tables, made as the model wants them.

use keyform_core::{ErrorCode, Operation};

use crate::bind;

use super::{Call, RunError, Runner};

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
            if let Some(ttl) = bind::time_to_live(table, &inputs) {
                self.send(Operation::UpdateTimeToLive(ttl)).await?;
            }
            made.push(inputs.table_name(table));
        }
        Ok(made)
    }
}
