//! The simplest possible implementation of DynamoDB: tables are lists of trees, and every response is computed from
//! scratch.
//!
//! It shares only the vocabulary of `keyform_core` (values, operations, error messages) with the engine. It has its own
//! conditions ([`condition`]), updates ([`update`]) and projections ([`project`]), finds items by a linear search,
//! computes indexes by filtering and sorting ([`read`]), and records streams as differences ([`table`]).

mod condition;
mod project;
mod read;
mod table;
mod update;
mod write;

use std::collections::BTreeMap;

use keyform_core::error::{self, CancellationReason, Detail};
use keyform_core::operation::{
    GlobalIndexChange, StreamChange, TransactWriteItems, UpdateTable, UpdateTimeToLive, UserIdentity,
};
use keyform_core::{Attributes, Error, ErrorCode, Operation, Output};

pub use condition::holds;
pub use project::project;
pub use table::{Difference, Stream, Table};
pub use update::{apply, touched};

/// State of the service.
#[derive(Clone, Debug)]
pub struct Service {
    /// Tables by name.
    pub tables: BTreeMap<String, Table>,
    /// Current time in milliseconds since the Unix epoch.
    pub now_ms: u64,
    /// Transactions with a token: token, request, time.
    applied: Vec<(String, TransactWriteItems, u64)>,
}

/// Expected error: the complete error, or the part that follows from the documentation.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// Exactly this error.
    Exactly(Error),
    /// `ValidationException` with any message.
    Validation,
    /// `ValidationException` with any message, for a transaction as a whole or for one of its actions.
    ValidationOfTransaction,
    /// Cancelled transaction; the reason `None` means a `ValidationError` with any message.
    Cancelled(Vec<Option<CancellationReason>>),
}

/// Response of the service.
pub type Answer<T> = Result<T, Refusal>;

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Exactly(error)
    }
}

impl Refusal {
    /// Returns whether an error matches.
    pub fn is(&self, error: &Error) -> bool {
        match self {
            Self::Exactly(expected) => expected == error,
            Self::Validation => error.code() == ErrorCode::Validation,
            Self::ValidationOfTransaction => {
                let of_action = error.message().contains("ValidationError");
                error.code() == ErrorCode::Validation || error.code() == ErrorCode::TransactionCanceled && of_action
            }
            Self::Cancelled(expected) => match error.detail() {
                Detail::Cancellation(reasons) => {
                    reasons.len() == expected.len()
                        && reasons.iter().zip(expected).all(|(a, b)| reason_is(a, b.as_ref()))
                }
                _ => false,
            },
        }
    }
}

fn reason_is(actual: &CancellationReason, expected: Option<&CancellationReason>) -> bool {
    match expected {
        Some(expected) => actual == expected,
        None => actual.cause.as_ref().is_some_and(|cause| cause.code == "ValidationError"),
    }
}

impl Service {
    pub fn new(now_ms: u64) -> Self {
        Self { tables: BTreeMap::new(), now_ms, applied: Vec::new() }
    }

    /// Runs an operation with a deterministic response. A Scan has no defined order; use [`Service::scanned`] for it.
    pub fn run(&mut self, operation: &Operation) -> Answer<Option<Output>> {
        let output = match operation {
            Operation::PutItem(request) => Output::PutItem(self.put_item(request)?),
            Operation::UpdateItem(request) => Output::UpdateItem(self.update_item(request)?),
            Operation::DeleteItem(request) => Output::DeleteItem(self.delete_item(request)?),
            Operation::BatchWriteItem(request) => Output::BatchWriteItem(self.batch_write_item(request)?),
            Operation::TransactWriteItems(request) => Output::TransactWriteItems(self.transact_write_items(request)?),
            Operation::GetItem(request) => Output::GetItem(self.get_item(request)?),
            Operation::BatchGetItem(request) => Output::BatchGetItem(self.batch_get_item(request)?),
            Operation::TransactGetItems(request) => Output::TransactGetItems(self.transact_get_items(request)?),
            Operation::Query(request) => Output::Query(self.query(request)?),
            Operation::UpdateTimeToLive(request) => {
                self.update_time_to_live(request)?;
                Output::UpdateTimeToLive(request.setting.clone())
            }
            Operation::CreateTable(request) => {
                self.tables.insert(request.table.clone(), Table::new(request.clone(), self.now_ms));
                return Ok(None);
            }
            Operation::UpdateTable(request) => {
                self.update_table(request)?;
                return Ok(None);
            }
            Operation::DeleteTable(request) => {
                self.table(&request.table)?;
                self.tables.remove(&request.table);
                return Ok(None);
            }
            other => panic!("the naive service does not know {other:?}"),
        };
        Ok(Some(output))
    }

    /// Runs background work: deletes expired items, removes deleted indexes, makes new indexes readable.
    pub fn sweep(&mut self) {
        let now_ms = self.now_ms;
        for table in self.tables.values_mut() {
            table.filling.clear();
            let leaving = std::mem::take(&mut table.leaving);
            table.definition.global_indexes.retain(|index| !leaving.contains(&index.name));
            let expired: Vec<Attributes> =
                table.items.iter().filter(|item| table.is_expired(item, now_ms)).cloned().collect();
            let group = expired.into_iter().filter_map(|item| {
                table.items.retain(|other| *other != item);
                table.difference(Some(&item), None, now_ms, Some(UserIdentity::TimeToLive))
            });
            let group: Vec<Difference> = group.collect();
            table.record(group);
        }
    }

    fn table(&self, name: &str) -> Answer<&Table> {
        Ok(self.tables.get(name).ok_or_else(error::table::resource_not_found)?)
    }

    fn table_mut(&mut self, name: &str) -> Answer<&mut Table> {
        Ok(self.tables.get_mut(name).ok_or_else(error::table::resource_not_found)?)
    }

    fn update_time_to_live(&mut self, request: &UpdateTimeToLive) -> Answer<()> {
        let setting = &request.setting;
        let table = self.table_mut(&request.table)?;
        if table.expiry.is_some() == setting.enabled {
            return Err(Refusal::Validation);
        }
        table.expiry = setting.enabled.then(|| setting.attribute.clone());
        Ok(())
    }

    fn update_table(&mut self, request: &UpdateTable) -> Answer<()> {
        let now_ms = self.now_ms;
        let table = self.table_mut(&request.table)?;
        for change in &request.indexes {
            match change {
                GlobalIndexChange::Create(index) => {
                    table.definition.attributes.extend(request.attributes.clone());
                    table.definition.global_indexes.push(index.clone());
                    table.filling.insert(index.name.clone());
                }
                GlobalIndexChange::Delete { name } => {
                    table.leaving.insert(name.clone());
                }
                GlobalIndexChange::Update { .. } => {}
            }
        }
        match request.stream {
            Some(StreamChange::Enable(view)) => table.streams.push(Stream::new(view, now_ms)),
            Some(StreamChange::Disable) => table.streams.iter_mut().for_each(|stream| stream.enabled = false),
            None => {}
        }
        Ok(())
    }
}
