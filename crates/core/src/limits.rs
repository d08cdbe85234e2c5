//! The service's limits, as numbers with names.

/// The largest item, names and values added up.
pub const ITEM_BYTES_MAX: usize = 400 * 1024;
/// The longest name of an attribute.
pub const ATTRIBUTE_NAME_BYTES_MAX: usize = 65_535;
/// The longest name of an attribute that a key, an index's list of copied attributes or the time to live names.
pub const KEY_NAME_BYTES_MAX: usize = 255;
/// The largest partition key value.
pub const PARTITION_KEY_BYTES_MAX: usize = 2048;
/// The largest sort key value.
pub const SORT_KEY_BYTES_MAX: usize = 1024;
/// How deep lists and maps may nest.
pub const NESTING_DEPTH_MAX: usize = 32;
/// How much a Query or Scan reads for one page.
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// How many keys a BatchGetItem takes.
pub const BATCH_GET_KEYS_MAX: usize = 100;
/// How much a BatchGetItem returns.
pub const BATCH_GET_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How many puts and deletes a BatchWriteItem takes.
pub const BATCH_WRITE_REQUESTS_MAX: usize = 25;
/// How many actions a transaction takes.
pub const TRANSACTION_ACTIONS_MAX: usize = 100;
/// How much data a transaction touches.
pub const TRANSACTION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How many statements a BatchExecuteStatement takes.
pub const BATCH_STATEMENTS_MAX: usize = 25;
/// The longest expression.
pub const EXPRESSION_BYTES_MAX: usize = 4096;
/// How many operators an expression may hold.
pub const EXPRESSION_OPERATORS_MAX: usize = 300;
/// How many operands `IN` takes.
pub const IN_OPERANDS_MAX: usize = 100;
/// How many global secondary indexes a table has.
pub const GLOBAL_INDEXES_MAX: usize = 20;
/// How many local secondary indexes a table has.
pub const LOCAL_INDEXES_MAX: usize = 5;
/// How many attributes each half of a global secondary index's key has.
pub const INDEX_KEY_ATTRIBUTES_MAX: usize = 4;
/// How many non-key attributes all indexes of a table project together.
pub const PROJECTED_ATTRIBUTES_MAX: usize = 100;
/// The largest item collection of a table with local secondary indexes.
pub const ITEM_COLLECTION_BYTES_MAX: u64 = 10 * 1024 * 1024 * 1024;
/// How long an idempotency token is remembered.
pub const IDEMPOTENCY_SECS: u64 = 600;
/// How long a stream record is kept.
pub const STREAM_RETENTION_SECS: u64 = 24 * 60 * 60;
/// How long a shard iterator is valid.
pub const SHARD_ITERATOR_SECS: u64 = 15 * 60;
/// How many records a GetRecords returns.
pub const STREAM_RECORDS_MAX: usize = 1000;
/// How many tags a resource has.
pub const TAGS_MAX: usize = 50;
