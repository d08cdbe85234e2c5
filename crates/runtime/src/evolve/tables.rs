//! Creates the tables and indexes of the new form, one after the other.

use std::time::Duration;

use keyform_core::operation::{DescribeTable, GlobalIndexChange, UpdateTable};
use keyform_core::table::{GlobalIndex, Status, TableDescription};
use keyform_core::{Error, ErrorCode, ExecuteExt};

use keyform_language::bind::{self, Inputs};
use keyform_language::schema::Table;

use super::migration::{MigrateError, Migration};

/// Polls before giving up: one day in total, because the service may take hours to backfill an index.
const LOOKS_MAX: u32 = 172_800;
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

impl Migration {
    /// Creates the tables and indexes that the new form needs; returns their names.
    ///
    /// # Errors
    ///
    /// Returns an error if the store rejects one.
    pub async fn prepare(&self) -> Result<Vec<String>, MigrateError> {
        let mut made = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for form in &self.forms {
            if seen.contains(&form.new.name.as_str()) {
                continue;
            }
            seen.push(&form.new.name);
            match self.describe(&form.new.name).await? {
                None => made.push(self.make_table(&form.new.table, &form.new.name).await?),
                Some(description) => made.extend(self.make_indexes(&form.new.table, description).await?),
            }
        }
        Ok(made)
    }

    /// Returns the indexes that the new form needs and the store lacks, as `table.index`; for a missing table, its
    /// name.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    pub async fn lacks(&self) -> Result<Vec<String>, MigrateError> {
        let mut lacks: Vec<String> = Vec::new();
        for form in &self.forms {
            let name = &form.new.name;
            let missing = match self.describe(name).await? {
                None => vec![name.clone()],
                Some(description) => self
                    .missing(&form.new.table, &description)
                    .iter()
                    .map(|index| format!("{name}.{}", index.name))
                    .collect(),
            };
            lacks.extend(missing);
        }
        lacks.dedup();
        Ok(lacks)
    }

    async fn describe(&self, table: &str) -> Result<Option<Box<TableDescription>>, Error> {
        match self.store.call(DescribeTable { table: table.to_owned() }).await {
            Ok(description) => Ok(Some(description)),
            Err(error) if error.code() == ErrorCode::ResourceNotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn make_table(&self, table: &Table, name: &str) -> Result<String, MigrateError> {
        let request = self.request(table);
        match self.store.call(request).await {
            Ok(_) => {}
            Err(error) if error.code() == ErrorCode::ResourceInUse => {}
            Err(error) => return Err(error.into()),
        }
        self.wait_until_active(name).await?;
        if let Some(ttl) = self.with_inputs(|inputs| bind::time_to_live(table, inputs)) {
            self.store.call(ttl).await?;
        }
        Ok(name.to_owned())
    }

    async fn make_indexes(
        &self,
        table: &Table,
        description: Box<TableDescription>,
    ) -> Result<Vec<String>, MigrateError> {
        let name = description.name.clone();
        let attributes = self.request(table).attributes;
        let mut made = Vec::new();
        for index in self.missing(table, &description) {
            let used = |attribute: &String| description.key.contains(attribute) || index.key.contains(attribute);
            let update = UpdateTable {
                table: name.clone(),
                attributes: attributes.clone().into_iter().filter(|(attribute, _)| used(attribute)).collect(),
                indexes: vec![GlobalIndexChange::Create(index.clone())],
                ..UpdateTable::default()
            };
            self.store.call(update).await?;
            self.wait_until_active(&name).await?;
            made.push(format!("{name}.{}", index.name));
        }
        Ok(made)
    }

    fn missing(&self, table: &Table, description: &TableDescription) -> Vec<GlobalIndex> {
        let has = |index: &GlobalIndex| description.global_indexes.iter().any(|there| there.index.name == index.name);
        self.request(table).global_indexes.into_iter().filter(|index| !has(index)).collect()
    }

    fn request(&self, table: &Table) -> keyform_core::operation::CreateTable {
        self.with_inputs(|inputs| bind::create_table(table, inputs))
    }

    fn with_inputs<T>(&self, make: impl FnOnce(&Inputs<'_>) -> T) -> T {
        make(&Inputs {
            arguments: Default::default(),
            caller: Default::default(),
            lets: Vec::new(),
            current: Vec::new(),
            variables: self.variables.clone(),
            start: None,
            token: None,
            now_millis: self.world.now_millis(),
            fresh: &self.world,
            sealing: None,
        })
    }

    /// Waits until a table and all its indexes are active.
    pub(super) async fn wait_until_active(&self, table: &str) -> Result<(), MigrateError> {
        for _ in 0..LOOKS_MAX {
            if let Some(description) = self.describe(table).await? {
                let ready = |status: Status| status == Status::Active;
                let mut indexes = description.global_indexes.iter();
                if ready(description.status) && indexes.all(|index| ready(index.status) && !index.backfilling) {
                    return Ok(());
                }
            }
            self.world.sleep(BETWEEN_LOOKS).await;
        }
        Err(MigrateError::Store(Error::internal(format!("table {table} is still not ready after a day"))))
    }
}
