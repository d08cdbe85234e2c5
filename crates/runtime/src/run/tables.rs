//! Creates the model's tables and indexes in the store.

use std::time::Duration;

use keyform_core::operation::{CreateTable, DescribeTable, GlobalIndexChange, UpdateTable};
use keyform_core::table::{GlobalIndex, Status, TableDescription};
use keyform_core::{ErrorCode, Operation};

use keyform_language::bind;
use keyform_language::bookkeeping::CASCADES;

use super::{Call, RunError, Runner};

/// Polls of one table before giving up; together with the delay between them, five minutes.
const LOOKS_MAX: u32 = 600;
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

impl Runner {
    /// Creates the missing tables with their indexes, streams and TTL, and the intent table if the model cascades.
    /// Returns the names of the created tables. Leaves existing tables unchanged. Before that, creates the table of
    /// accepted models, which is not listed, and accepts the model.
    ///
    /// # Errors
    ///
    /// Returns an error if the store rejects a table, and [`RunError::NotAccepted`] if it does not accept the model.
    pub async fn create_tables(&self) -> Result<Vec<String>, RunError> {
        self.create_model_table().await?;
        self.accept().await?;
        let nobody = Call::default();
        let inputs = self.inputs(&nobody);
        let mut made = Vec::new();
        for table in &self.checked.model.tables {
            match self.send(Operation::CreateTable(bind::create_table(table, &inputs))).await {
                Ok(_) => {}
                // Another process may be creating it right now.
                Err(error) if error.code() == ErrorCode::ResourceInUse => {
                    self.wait_until_active(&inputs.table_name(table)).await?;
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            self.wait_until_active(&inputs.table_name(table)).await?;
            if let Some(ttl) = bind::time_to_live(table, &inputs) {
                self.send(Operation::UpdateTimeToLive(ttl)).await?;
            }
            made.push(inputs.table_name(table));
        }
        if self.cascades() && self.create_cascade_table().await? {
            made.push(CASCADES.to_owned());
        }
        Ok(made)
    }

    /// Returns the names of the model's tables that the store does not have.
    ///
    /// # Errors
    ///
    /// Returns an error if a table cannot be described.
    pub async fn missing_tables(&self) -> Result<Vec<String>, RunError> {
        let mut missing = Vec::new();
        for wanted in self.wanted_tables() {
            if self.describe(&wanted.table).await?.is_none() {
                missing.push(wanted.table);
            }
        }
        if self.cascades() && self.describe(CASCADES).await?.is_none() {
            missing.push(CASCADES.to_owned());
        }
        Ok(missing)
    }

    /// Creates the global indexes that the tables in the store lack, and waits until each is backfilled. Returns
    /// `table.index` for each created index. DynamoDB cannot add a local index to an existing table.
    ///
    /// # Errors
    ///
    /// Returns an error if the store rejects an index.
    pub async fn add_indexes(&self) -> Result<Vec<String>, RunError> {
        let mut added = Vec::new();
        for wanted in self.wanted_tables() {
            let Some(description) = self.describe(&wanted.table).await? else { continue };
            for index in &wanted.global_indexes {
                if description.global_indexes.iter().all(|there| there.index.name != index.name) {
                    self.add_index(&wanted, index).await?;
                    added.push(format!("{}.{}", wanted.table, index.name));
                }
            }
        }
        Ok(added)
    }

    /// Returns the tables that the model declares.
    fn wanted_tables(&self) -> Vec<CreateTable> {
        let nobody = Call::default();
        let inputs = self.inputs(&nobody);
        self.checked.model.tables.iter().map(|table| bind::create_table(table, &inputs)).collect()
    }

    async fn add_index(&self, table: &CreateTable, index: &GlobalIndex) -> Result<(), RunError> {
        let keys = index.key.partition.iter().chain(&index.key.sort);
        let attributes = keys.filter_map(|name| Some((name.clone(), *table.attributes.get(name)?))).collect();
        let update = UpdateTable {
            table: table.table.clone(),
            attributes,
            indexes: vec![GlobalIndexChange::Create(index.clone())],
            ..UpdateTable::default()
        };
        self.send(Operation::UpdateTable(update)).await?;
        self.wait_until_active(&table.table).await
    }

    pub(super) async fn describe(&self, table: &str) -> Result<Option<TableDescription>, RunError> {
        match self.call(DescribeTable { table: table.to_owned() }).await {
            Ok(description) => Ok(Some(*description)),
            Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for a table and its indexes. The store creates them asynchronously and rejects requests until they are
    /// active; right after CreateTable, DescribeTable may even report that the table does not exist.
    pub(super) async fn wait_until_active(&self, table: &str) -> Result<(), RunError> {
        for _ in 0..LOOKS_MAX {
            if self.describe(table).await?.is_some_and(|description| is_active(&description)) {
                return Ok(());
            }
            self.world.sleep(BETWEEN_LOOKS).await;
        }
        Err(RunError::Busy)
    }
}

fn is_active(description: &TableDescription) -> bool {
    description.status == Status::Active
        && description.global_indexes.iter().all(|index| index.status == Status::Active)
}
