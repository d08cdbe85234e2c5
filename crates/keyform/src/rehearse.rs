//! A migration rehearsed: the tables it is about are copied into memory, and everything runs there.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform_core::operation::{BatchWriteItem, CreateTable, Scan, WriteRequest};
use keyform_core::table::{BillingMode, TableDescription};
use keyform_core::{Attributes, Error, ErrorCode, Execute, Operation, Output};
use keyform_engine::Database;
use keyform_model::Checked;
use keyform_model::evolve::{Estimate, MigrateError, Migration, Pace, RolledBack, Verified, Watch};
use keyform_model::seal::Keyring;

use crate::surroundings::System;

/// Items that one BatchWriteItem takes.
const BATCH_ITEMS_MAX: usize = 25;

/// What came of a rehearsal.
#[derive(Clone, Debug, PartialEq)]
pub struct Rehearsal {
    /// How many items each table has.
    pub copied: BTreeMap<String, u64>,
    /// What the migration was expected to take.
    pub estimate: Estimate,
    /// What it took: write units of the run.
    pub units: f64,
    /// How long it took in memory, in milliseconds; another store takes longer.
    pub millis: u64,
    /// Items that cannot be carried over, each with why; the first few.
    pub stuck: Vec<String>,
    /// What the comparison found after the run.
    pub verified: Verified,
    /// What the way back did, on the copy.
    pub rolled_back: RolledBack,
    /// Whether the cut-over went through after a second run.
    pub cut_over: bool,
}

impl Rehearsal {
    /// Whether the migration would go through.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.cut_over && self.stuck.is_empty() && self.verified.is_complete()
    }
}

/// Copies the tables of a migration into memory and runs all of it there: the run, the comparison, the way back, the run again and the
/// cut-over. The store itself is only read. `keys` are those of encrypted fields, if the model has some.
///
/// # Errors
///
/// If the model has no evolution or the store fails.
pub async fn rehearse(
    checked: Arc<Checked>,
    store: &dyn Execute,
    variables: BTreeMap<String, String>,
    keys: Option<&Arc<Keyring>>,
    watch: Watch<'_>,
) -> Result<Rehearsal, MigrateError> {
    let copy = Arc::new(Database::in_memory());
    let migration = Migration::new(checked, Arc::clone(&copy) as Arc<dyn Execute>, Arc::new(System), variables)?;
    let migration = migration.with_keys(keys);
    let mut copied = BTreeMap::new();
    for form in migration.forms() {
        for name in [&form.old.name, &form.new.name] {
            if !copied.contains_key(name) {
                copied.insert(name.clone(), copy_table(store, &copy, name).await?);
            }
        }
    }
    let pace = Pace { owner: "a rehearsal".to_owned(), ..Pace::default() };
    let estimate = migration.estimate(None, watch).await?;
    let begun = std::time::Instant::now();
    let ran = migration.run(&pace, watch).await?;
    let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let verified = migration.verify(watch).await?;
    let rolled_back = migration.without_waiting().roll_back(&pace, watch).await?;
    migration.run(&pace, watch).await?;
    let cut_over = match migration.cut_over(&pace, watch).await {
        Ok(_) => true,
        Err(MigrateError::Left(..)) => false,
        Err(error) => return Err(error),
    };
    let units = ran.state.counts.units;
    Ok(Rehearsal { copied, estimate, units, millis, stuck: ran.stuck, verified, rolled_back, cut_over })
}

/// Copies a table with its items; one that is not there is not there in the copy either.
async fn copy_table(store: &dyn Execute, copy: &Database, table: &str) -> Result<u64, Error> {
    let description = match store.execute(Operation::DescribeTable { table: table.to_owned() }).await {
        Ok(Output::Table(description)) => description,
        Ok(_) => return Ok(0),
        Err(error) if error.code() == ErrorCode::ResourceNotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    Execute::execute(copy, Operation::CreateTable(made_like(table, &description))).await?;
    let mut count = 0;
    let mut start: Option<Attributes> = None;
    loop {
        let scan = Scan { consistent: true, start: start.take(), ..Scan::of(table) };
        let Output::Page(page) = store.execute(Operation::Scan(scan)).await? else { return Ok(count) };
        let items = page.items.unwrap_or_default();
        count += items.len() as u64;
        for some in items.chunks(BATCH_ITEMS_MAX) {
            let puts = some.iter().map(|item| WriteRequest::Put(item.to_attributes())).collect();
            let batch = BatchWriteItem { tables: vec![(table.to_owned(), puts)], ..BatchWriteItem::default() };
            Execute::execute(copy, Operation::BatchWriteItem(batch)).await?;
        }
        match page.last_key {
            Some(key) => start = Some(key.to_attributes()),
            None => return Ok(count),
        }
    }
}

fn made_like(table: &str, description: &TableDescription) -> CreateTable {
    let global = description.global_indexes.iter().map(|index| index.index.clone());
    CreateTable {
        attributes: description.attributes.clone(),
        key: description.key.clone(),
        global_indexes: global.map(|index| keyform_core::table::GlobalIndex { throughput: None, ..index }).collect(),
        local_indexes: description.local_indexes.iter().map(|index| index.index.clone()).collect(),
        billing: BillingMode::PayPerRequest,
        ..CreateTable::named(table)
    }
}
