//! Requests to a store, their outputs, and the parts of both. [`Operation`](crate::Operation) and
//! [`Output`](crate::Output) are the enums of all.

pub use keyform_core::operation::{
    BatchExecuteStatement, BatchExecuteStatementOutput, BatchGetItem, BatchGetItemOutput, BatchGetRequest,
    BatchWriteItem, BatchWriteItemOutput, BatchedStatement, ChangeKind, ChangeRecord, ContinuousBackups, CreateTable,
    DeleteItem, DeleteTable, DescribeContinuousBackups, DescribeLimits, DescribeLimitsOutput, DescribeStream,
    DescribeTable, DescribeTimeToLive, ExecuteStatement, ExecuteStatementOutput, ExecuteTransaction,
    ExecuteTransactionOutput, GetItem, GetItemOutput, GetRecords, GetRecordsOutput, GetShardIterator,
    GlobalIndexChange, ItemCollectionMetrics, ListStreams, ListStreamsOutput, ListTables, ListTablesOutput,
    ListTagsOfResource, ListTagsOfResourceOutput, PageOutput, PutItem, Query, Request, ReturnItemCollectionMetrics,
    ReturnValues, Scan, Segment, Select, SequenceNumber, Shard, ShardPosition, StatementResponse, StreamChange,
    StreamDescription, StreamListing, TagResource, TimeToLive, TimeToLiveStatus, TransactAction, TransactGet,
    TransactGetItems, TransactGetItemsOutput, TransactWriteItems, TransactWriteItemsOutput, UntagResource,
    UpdateContinuousBackups, UpdateItem, UpdateTable, UpdateTimeToLive, UserIdentity, WriteItemOutput, WriteOptions,
    WriteRequest,
};
