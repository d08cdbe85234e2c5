//! The engine: state shared by all operations, and their dispatch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use keyform_core::error::remote;
use keyform_core::{Error, Operation, Output, World};
use parking_lot::RwLock;

use crate::background::Work;
use crate::catalog::load::{self, Loaded, Statistics};
use crate::catalog::{Catalog, Table};
use crate::key_space::IndexId;
use crate::lock::{InFlight, InFlightMarks, KeyLocks};
use crate::store::{Batch, Commit, Snapshot, Store, StoreError};
use crate::stream::ShardLimits;
use crate::table_operations::table_arn_prefix;

/// Database without its background thread.
pub struct Engine {
    pub(crate) store: Store,
    pub(crate) catalog: RwLock<Catalog>,
    /// Sequence number of the last commit that changed the catalog. Responses that show the catalog wait for it.
    pub(crate) catalog_seqno: AtomicU64,
    pub(crate) locks: KeyLocks,
    pub(crate) in_flight: InFlight,
    pub(crate) work: Work,
    pub(crate) world: Arc<dyn World>,
    pub(crate) settings: EngineSettings,
}

/// Region and account shown in ARNs, and limits.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// Region in ARNs; `us-east-1` by default.
    pub region: String,
    /// Account in ARNs; twelve zeros by default.
    pub account: String,
    /// Limits at which stream shards are closed.
    pub shards: ShardLimits,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self { region: "us-east-1".to_owned(), account: "000000000000".to_owned(), shards: ShardLimits::default() }
    }
}

/// Result of starting an operation whose response is a `T`.
pub enum Started<T> {
    /// Complete response; nothing is left to wait for.
    Done(T),
    /// Response that may be sent only when the data it is based on is durable.
    Waiting(Waiting<T>),
}

/// Response that may be sent once `commit` is durable.
pub struct Waiting<T> {
    /// Commit to wait for.
    pub commit: Commit,
    /// Response to send after the commit, or the error of a condition that failed on state not yet durable.
    pub answer: Result<T, Error>,
    /// Marks on the items of a transaction; dropping them ends its conflicts with other writers.
    pub marks: Option<InFlightMarks>,
}

impl<T> Started<T> {
    pub(crate) fn after(commit: Commit, output: T) -> Self {
        Self::Waiting(Waiting { commit, answer: Ok(output), marks: None })
    }

    pub(crate) fn map<U>(self, map: impl FnOnce(T) -> U) -> Started<U> {
        match self {
            Self::Done(output) => Started::Done(map(output)),
            Self::Waiting(Waiting { commit, answer, marks }) => {
                Started::Waiting(Waiting { commit, answer: answer.map(map), marks })
            }
        }
    }

    pub(crate) fn map_err(self, map: impl FnOnce(Error) -> Error) -> Self {
        match self {
            Self::Done(output) => Self::Done(output),
            Self::Waiting(Waiting { commit, answer, marks }) => {
                Self::Waiting(Waiting { commit, answer: answer.map_err(map), marks })
            }
        }
    }
}

impl Engine {
    /// Starts an operation. May read from disk and may be delayed while flushes lag behind, but does not wait for its
    /// own commit to be synced.
    ///
    /// # Errors
    /// The errors of DynamoDB for this operation, or `InternalServerError` when the store fails.
    pub fn begin(&self, operation: Operation) -> Result<Started<Output>, Error> {
        Ok(match operation {
            Operation::PutItem(request) => self.put_item(request)?.map(Output::PutItem),
            Operation::UpdateItem(request) => self.update_item(request)?.map(Output::UpdateItem),
            Operation::DeleteItem(request) => self.delete_item(request)?.map(Output::DeleteItem),
            Operation::BatchWriteItem(request) => self.batch_write_item(request)?.map(Output::BatchWriteItem),
            Operation::TransactWriteItems(request) => {
                self.transact_write_items(request)?.map(Output::TransactWriteItems)
            }
            Operation::GetItem(request) => Started::Done(Output::GetItem(self.get_item(&request)?)),
            Operation::Query(request) => Started::Done(Output::Query(self.query(&request)?)),
            Operation::Scan(request) => Started::Done(Output::Scan(self.scan(&request)?)),
            Operation::BatchGetItem(request) => Started::Done(Output::BatchGetItem(self.batch_get_item(&request)?)),
            Operation::TransactGetItems(request) => {
                Started::Done(Output::TransactGetItems(self.transact_get_items(&request)?))
            }
            Operation::ExecuteStatement(request) => self.execute_statement(request)?.map(Output::ExecuteStatement),
            Operation::BatchExecuteStatement(request) => {
                self.batch_execute_statement(request)?.map(Output::BatchExecuteStatement)
            }
            Operation::ExecuteTransaction(request) => {
                self.execute_transaction(request)?.map(Output::ExecuteTransaction)
            }
            Operation::CreateTable(request) => self.create_table(request)?.map(Output::CreateTable),
            Operation::DescribeTable(request) => self.describe_table(&request)?.map(Output::DescribeTable),
            Operation::UpdateTable(request) => self.update_table(request)?.map(Output::UpdateTable),
            Operation::DeleteTable(request) => self.delete_table(&request)?.map(Output::DeleteTable),
            Operation::ListTables(request) => self.list_tables(&request).map(Output::ListTables),
            Operation::UpdateTimeToLive(request) => self.update_time_to_live(request)?.map(Output::UpdateTimeToLive),
            Operation::DescribeTimeToLive(request) => {
                self.describe_time_to_live(&request)?.map(Output::DescribeTimeToLive)
            }
            Operation::DescribeContinuousBackups(request) => {
                Started::Done(Output::DescribeContinuousBackups(self.describe_continuous_backups(&request)?))
            }
            Operation::UpdateContinuousBackups(request) => {
                Started::Done(Output::UpdateContinuousBackups(self.update_continuous_backups(&request)?))
            }
            Operation::DescribeLimits(_) => Started::Done(Output::DescribeLimits(self.describe_limits())),
            Operation::TagResource(request) => self.tag_resource(&request)?.map(Output::TagResource),
            Operation::UntagResource(request) => self.untag_resource(&request)?.map(Output::UntagResource),
            Operation::ListTagsOfResource(request) => {
                self.list_tags_of_resource(&request)?.map(Output::ListTagsOfResource)
            }
            Operation::ListStreams(request) => self.list_streams(&request)?.map(Output::ListStreams),
            Operation::DescribeStream(request) => self.describe_stream(&request)?.map(Output::DescribeStream),
            Operation::GetShardIterator(request) => {
                Started::Done(Output::GetShardIterator(self.get_shard_iterator(&request)?))
            }
            Operation::GetRecords(request) => Started::Done(Output::GetRecords(self.get_records(&request)?)),
        })
    }

    /// Loads the catalog from a store and creates the engine.
    ///
    /// # Errors
    /// When the store's catalog cannot be read.
    pub fn open(store: Store, world: Arc<dyn World>, settings: EngineSettings) -> Result<Self, Error> {
        let Loaded { catalog, statistics } = load::load(&store.snapshot(), table_arn_prefix(&settings))?;
        let engine = Self {
            store,
            catalog: RwLock::new(catalog),
            catalog_seqno: AtomicU64::new(0),
            locks: KeyLocks::default(),
            in_flight: InFlight::default(),
            work: Work::default(),
            world,
            settings,
        };
        engine.note_statistics(statistics);
        Ok(engine)
    }

    /// Saved statistics are used once: the record is removed at start, so that a process that ends without writing a
    /// new one counts again at its next start.
    fn note_statistics(&self, statistics: Statistics) {
        match statistics {
            Statistics::Restored => {
                let mut batch = Batch::new();
                load::stage_statistics_removal(&mut batch);
                // Nothing waits for this commit. Every later commit is ordered after it, so it is durable before they
                // are.
                drop(self.store.commit(batch));
            }
            Statistics::Unknown => {
                self.catalog.read().iter().for_each(|table| self.recount_later(table));
            }
        }
    }

    /// Saves the statistics, makes everything durable and closes the store.
    ///
    /// # Errors
    /// When the last sync fails.
    pub fn close(&self) -> Result<(), StoreError> {
        let catalog = self.catalog.write();
        let mut noted = Ok(());
        if self.work.close() && self.work.uncounted().is_empty() && self.store.health().is_ok() {
            let mut batch = Batch::new();
            load::stage_statistics(&mut batch, &catalog);
            noted = self.store.commit(batch).wait().map(drop);
        }
        self.store.close().and(noted)
    }

    /// Checks that the engine accepts writes.
    ///
    /// # Errors
    /// The error that a write would get.
    pub fn health(&self) -> Result<(), StoreError> {
        self.store.health()
    }

    /// Rejects a write while the store accepts none, before anything is read or counted for it.
    pub(crate) fn admit(&self) -> Result<(), Error> {
        self.store.health().map_err(|error| store_failed(&error))
    }

    /// Commits changes that were counted when they were staged. If the store rejects the batch, the counters are wrong,
    /// so the tables are queued for a recount.
    pub(crate) fn commit_changes<'t>(&self, batch: Batch, tables: impl IntoIterator<Item = &'t Table>) -> Commit {
        let commit = self.store.commit(batch);
        if commit.seqno().is_none() {
            tables.into_iter().for_each(|table| self.recount_later(table));
        }
        commit
    }

    fn recount_later(&self, table: &Table) {
        self.work.add_uncounted(table.id, IndexId::BASE);
        table.indexes.iter().for_each(|index| self.work.add_uncounted(table.id, index.id));
    }

    /// Returns the time in milliseconds since the Unix epoch.
    pub(crate) fn now_ms(&self) -> u64 {
        u64::try_from(self.world.now_millis()).unwrap_or(0)
    }

    /// Returns a snapshot of the durable state, which is what readers see.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.store.snapshot()
    }

    /// Returns a response that shows the catalog, at once when the catalog's last change is durable.
    pub(crate) fn told<T>(&self, output: T) -> Started<T> {
        if self.store.snapshot().seqno() >= self.catalog_seqno.load(Ordering::Acquire) {
            Started::Done(output)
        } else {
            self.after_all_before(Ok(output))
        }
    }

    /// Returns a response based on commits that may not be durable yet: it waits for everything committed so far.
    pub(crate) fn after_all_before<T>(&self, answer: Result<T, Error>) -> Started<T> {
        let commit = self.store.commit(Batch::new());
        Started::Waiting(Waiting { commit, answer, marks: None })
    }
}

/// Maps a store error to `InternalServerError`, which SDKs retry. When the outcome of the write is unknown, the error's
/// detail says so.
pub fn store_failed(error: &StoreError) -> Error {
    match error {
        StoreError::Unconfirmed { .. } => remote::outcome_unknown(&error.to_string()),
        StoreError::Paused { .. } => Error::refused_for_now(error.to_string()),
        StoreError::InUse { .. }
        | StoreError::Foreign { .. }
        | StoreError::Newer { .. }
        | StoreError::WrongKey { .. }
        | StoreError::Corrupt { .. }
        | StoreError::Missing { .. }
        | StoreError::Io { .. }
        | StoreError::Sync { .. }
        | StoreError::Poisoned { .. }
        | StoreError::Closed
        | StoreError::BatchTooLarge => Error::internal(format!("the store failed: {error}")),
    }
}
