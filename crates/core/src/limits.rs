//! DynamoDB's service limits as named constants.

/// Maximum item size in bytes: attribute names plus values.
pub const ITEM_BYTES_MAX: usize = 400 * 1024;
/// Maximum length of an attribute name in UTF-8 bytes.
pub const ATTRIBUTE_NAME_BYTES_MAX: usize = 65_535;
/// Maximum length of an attribute name used in a key schema, an index projection or the time-to-live setting.
pub const KEY_NAME_BYTES_MAX: usize = 255;
/// Maximum size of a partition key value.
pub const PARTITION_KEY_BYTES_MAX: usize = 2048;
/// Maximum size of a sort key value.
pub const SORT_KEY_BYTES_MAX: usize = 1024;
/// Maximum nesting depth of lists and maps.
pub const NESTING_DEPTH_MAX: usize = 32;
/// Maximum amount of data a Query or Scan reads for one page, before the filter.
pub const PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Maximum number of keys in a BatchGetItem.
pub const BATCH_GET_KEYS_MAX: usize = 100;
/// Maximum size of the items a BatchGetItem returns; the remaining keys come back as unprocessed.
pub const BATCH_GET_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Maximum number of puts and deletes in a BatchWriteItem.
pub const BATCH_WRITE_REQUESTS_MAX: usize = 25;
/// Maximum number of actions in a transaction.
pub const TRANSACTION_ACTIONS_MAX: usize = 100;
/// Maximum total size of the items in a transaction.
pub const TRANSACTION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Maximum number of statements in a BatchExecuteStatement.
pub const BATCH_STATEMENTS_MAX: usize = 25;
/// Maximum length of an expression in UTF-8 bytes.
pub const EXPRESSION_BYTES_MAX: usize = 4096;
/// Maximum number of operators in an expression.
pub const EXPRESSION_OPERATORS_MAX: usize = 300;
/// Maximum number of operands of `IN`.
pub const IN_OPERANDS_MAX: usize = 100;
/// Maximum number of global secondary indexes of a table.
pub const GLOBAL_INDEXES_MAX: usize = 20;
/// Maximum number of local secondary indexes of a table.
pub const LOCAL_INDEXES_MAX: usize = 5;
/// Maximum number of partition attributes, and of sort attributes, in the key of a global secondary index.
pub const INDEX_KEY_ATTRIBUTES_MAX: usize = 4;
/// Maximum number of non-key attributes that all indexes of a table project together.
pub const PROJECTED_ATTRIBUTES_MAX: usize = 100;
/// Maximum size of an item collection in a table with local secondary indexes.
pub const ITEM_COLLECTION_BYTES_MAX: u64 = 10 * 1024 * 1024 * 1024;
/// Seconds for which an idempotency token is remembered. Within them a repeated request has no further effect.
pub const IDEMPOTENCY_SECS: u64 = 600;
/// Seconds after which a stream record may be trimmed.
pub const STREAM_RETENTION_SECS: u64 = 24 * 60 * 60;
/// Seconds after which a shard iterator expires.
pub const SHARD_ITERATOR_SECS: u64 = 15 * 60;
/// Maximum number of records a GetRecords returns.
pub const STREAM_RECORDS_MAX: usize = 1000;
/// Maximum number of tags of a resource.
pub const TAGS_MAX: usize = 50;
