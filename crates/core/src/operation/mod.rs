//! Request and response types of DynamoDB's operations, with expressions parsed and values typed.
//!
//! [`Operation`] is the only input of a store, [`Output`] its only result besides errors.

mod batch;
mod item;
mod read;
mod statement;
mod stream;
mod table;
mod transaction;

pub use batch::{
    BatchGetItem, BatchGetItemOutput, BatchGetRequest, BatchWriteItem, BatchWriteItemOutput, WriteRequest,
};
pub use item::{
    DeleteItem, GetItem, GetItemOutput, ItemCollectionMetrics, PutItem, ReturnItemCollectionMetrics, ReturnValues,
    UpdateItem, WriteItemOutput,
};
pub use read::{PageOutput, Query, Scan, Segment, Select};
pub use statement::{
    BatchExecuteStatement, BatchExecuteStatementOutput, BatchedStatement, ExecuteStatement, ExecuteStatementOutput,
    ExecuteTransaction, ExecuteTransactionOutput, StatementResponse,
};
pub use stream::{
    ChangeKind, ChangeRecord, DescribeStream, GetRecords, GetRecordsOutput, GetShardIterator, ListStreams,
    ListStreamsOutput, SequenceNumber, Shard, ShardPosition, StreamDescription, StreamListing, UserIdentity,
};
pub use table::{
    ContinuousBackups, CreateTable, DescribeLimitsOutput, GlobalIndexChange, ListTables, ListTablesOutput,
    ListTagsOfResource, ListTagsOfResourceOutput, StreamChange, TagResource, TimeToLive, TimeToLiveStatus,
    UntagResource, UpdateContinuousBackups, UpdateTable, UpdateTimeToLive,
};
pub use transaction::{
    TransactAction, TransactGet, TransactGetItems, TransactGetItemsOutput, TransactWriteItems, TransactWriteItemsOutput,
};

use crate::table::TableDescription;

/// A request to a store.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is the service's operation of that name, described at its struct")]
pub enum Operation {
    CreateTable(CreateTable),
    DescribeTable { table: String },
    UpdateTable(UpdateTable),
    DeleteTable { table: String },
    ListTables(ListTables),
    UpdateTimeToLive(UpdateTimeToLive),
    DescribeTimeToLive { table: String },
    DescribeContinuousBackups { table: String },
    UpdateContinuousBackups(UpdateContinuousBackups),
    DescribeLimits,
    TagResource(TagResource),
    UntagResource(UntagResource),
    ListTagsOfResource(ListTagsOfResource),
    PutItem(PutItem),
    GetItem(GetItem),
    UpdateItem(UpdateItem),
    DeleteItem(DeleteItem),
    Query(Query),
    Scan(Scan),
    BatchGetItem(BatchGetItem),
    BatchWriteItem(BatchWriteItem),
    TransactGetItems(TransactGetItems),
    TransactWriteItems(TransactWriteItems),
    ExecuteStatement(ExecuteStatement),
    BatchExecuteStatement(BatchExecuteStatement),
    ExecuteTransaction(ExecuteTransaction),
    ListStreams(ListStreams),
    DescribeStream(DescribeStream),
    GetShardIterator(GetShardIterator),
    GetRecords(GetRecords),
}

impl Operation {
    /// Returns whether the operation may change the store. A PartiQL statement counts as a write, whatever its kind.
    #[must_use]
    pub fn writes(&self) -> bool {
        match self {
            Self::CreateTable(_)
            | Self::UpdateTable(_)
            | Self::DeleteTable { .. }
            | Self::UpdateTimeToLive(_)
            | Self::UpdateContinuousBackups(_)
            | Self::TagResource(_)
            | Self::UntagResource(_)
            | Self::PutItem(_)
            | Self::UpdateItem(_)
            | Self::DeleteItem(_)
            | Self::BatchWriteItem(_)
            | Self::TransactWriteItems(_)
            | Self::ExecuteStatement(_)
            | Self::BatchExecuteStatement(_)
            | Self::ExecuteTransaction(_) => true,
            Self::DescribeTable { .. }
            | Self::ListTables(_)
            | Self::DescribeTimeToLive { .. }
            | Self::DescribeContinuousBackups { .. }
            | Self::DescribeLimits
            | Self::ListTagsOfResource(_)
            | Self::GetItem(_)
            | Self::Query(_)
            | Self::Scan(_)
            | Self::BatchGetItem(_)
            | Self::TransactGetItems(_)
            | Self::ListStreams(_)
            | Self::DescribeStream(_)
            | Self::GetShardIterator(_)
            | Self::GetRecords(_) => false,
        }
    }
}

/// Response to an operation. The variant has the name of the request's variant unless several requests share it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant answers the operation of that name")]
pub enum Output {
    /// CreateTable, UpdateTable, DeleteTable: `TableDescription`; DescribeTable: `Table`.
    Table(Box<TableDescription>),
    ListTables(ListTablesOutput),
    UpdateTimeToLive(TimeToLive),
    DescribeTimeToLive(TimeToLiveStatus),
    /// DescribeContinuousBackups and UpdateContinuousBackups.
    ContinuousBackups(ContinuousBackups),
    DescribeLimits(DescribeLimitsOutput),
    /// Empty response of TagResource and UntagResource.
    Nothing,
    ListTagsOfResource(ListTagsOfResourceOutput),
    /// PutItem, UpdateItem, DeleteItem.
    WriteItem(WriteItemOutput),
    GetItem(GetItemOutput),
    /// Query and Scan.
    Page(PageOutput),
    BatchGetItem(BatchGetItemOutput),
    BatchWriteItem(BatchWriteItemOutput),
    TransactGetItems(TransactGetItemsOutput),
    TransactWriteItems(TransactWriteItemsOutput),
    ExecuteStatement(ExecuteStatementOutput),
    BatchExecuteStatement(BatchExecuteStatementOutput),
    ExecuteTransaction(ExecuteTransactionOutput),
    ListStreams(ListStreamsOutput),
    DescribeStream(StreamDescription),
    /// Opaque shard iterator, to be passed to GetRecords.
    GetShardIterator(String),
    GetRecords(GetRecordsOutput),
}
