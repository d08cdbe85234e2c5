//! Request and response types of DynamoDB's operations, with expressions parsed and values typed.
//!
//! [`Operation`] is the only input of a store, [`Output`] its only result besides errors. Both are generated from one
//! list, in `list`. A caller that knows its operation uses the struct with [`call`](crate::execute::ExecuteExt::call)
//! and gets the response of that operation.

mod address;
mod batch;
mod item;
mod list;
mod read;
mod request;
mod statement;
mod stream;
mod table;
mod transaction;

pub use address::Addresses;
pub use batch::{
    BatchGetItem, BatchGetItemOutput, BatchGetRequest, BatchWriteItem, BatchWriteItemOutput, WriteRequest,
};
pub use item::{
    DeleteItem, GetItem, GetItemOutput, ItemCollectionMetrics, PutItem, ReturnItemCollectionMetrics, ReturnValues,
    UpdateItem, WriteItemOutput, WriteOptions,
};
pub use list::{Operation, OperationKind, Output, Service};
pub use read::{PageOutput, PageRequest, Query, Scan, Segment, Select};
pub use request::{Request, Response};
pub use statement::{
    BatchExecuteStatement, BatchExecuteStatementOutput, BatchedStatement, ExecuteStatement, ExecuteStatementOutput,
    ExecuteTransaction, ExecuteTransactionOutput, StatementResponse,
};
pub use stream::{
    ChangeKind, ChangeRecord, DescribeStream, GetRecords, GetRecordsOutput, GetShardIterator, ListStreams,
    ListStreamsOutput, SequenceNumber, Shard, ShardPosition, StreamDescription, StreamListing, UserIdentity,
};
pub use table::{
    ContinuousBackups, CreateTable, DeleteTable, DescribeContinuousBackups, DescribeLimits, DescribeLimitsOutput,
    DescribeTable, DescribeTimeToLive, GlobalIndexChange, ListTables, ListTablesOutput, ListTagsOfResource,
    ListTagsOfResourceOutput, StreamChange, TagResource, TimeToLive, TimeToLiveStatus, UntagResource,
    UpdateContinuousBackups, UpdateTable, UpdateTimeToLive,
};
pub use transaction::{
    TransactAction, TransactGet, TransactGetItems, TransactGetItemsOutput, TransactWriteItems, TransactWriteItemsOutput,
};
