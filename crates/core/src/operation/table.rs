//! Requests that manage tables.

use crate::table::{
    AttributeDefinitions, BillingMode, GlobalIndex, KeySchema, LocalIndex, OnDemandThroughput, SseSpecification,
    StreamView, TableClass, Tag, Throughput, WarmThroughput,
};

/// Creates a table.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// Table name, unique in the account and region.
    pub table: String,
    /// Types of all key attributes, of the table and its indexes.
    pub attributes: AttributeDefinitions,
    /// Primary key schema.
    pub key: KeySchema,
    /// Global secondary indexes.
    pub global_indexes: Vec<GlobalIndex>,
    /// Local secondary indexes; they cannot be added later.
    pub local_indexes: Vec<LocalIndex>,
    /// Billing mode.
    pub billing: BillingMode,
    /// Provisioned throughput, if the request has one.
    pub throughput: Option<Throughput>,
    /// On-demand limits, if the request has them.
    pub on_demand: Option<OnDemandThroughput>,
    /// Warm throughput, if the request has one.
    pub warm: Option<WarmThroughput>,
    /// View of the change stream; no stream if absent.
    pub stream: Option<StreamView>,
    /// Server-side encryption, if the request has a setting.
    pub sse: Option<SseSpecification>,
    /// Storage class; `STANDARD` if absent.
    pub class: Option<TableClass>,
    /// Deletion protection; while set, DeleteTable is rejected.
    pub deletion_protected: bool,
    /// Tags of the new table.
    pub tags: Vec<Tag>,
}

impl CreateTable {
    /// Returns a request for an on-demand table with this name; the caller adds the key.
    pub fn named(table: impl Into<String>) -> Self {
        Self {
            table: table.into(),
            attributes: AttributeDefinitions::new(),
            key: KeySchema::default(),
            global_indexes: Vec::new(),
            local_indexes: Vec::new(),
            billing: BillingMode::PayPerRequest,
            throughput: None,
            on_demand: None,
            warm: None,
            stream: None,
            sse: None,
            class: None,
            deletion_protected: false,
            tags: Vec::new(),
        }
    }
}

/// Describes a table: its schema, settings, status and statistics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeTable {
    /// Table name or ARN.
    pub table: String,
}

/// Changes the settings of a table. An absent field keeps its current value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateTable {
    /// Table name or ARN.
    pub table: String,
    /// Types of the key attributes of new indexes.
    pub attributes: AttributeDefinitions,
    /// New billing mode.
    pub billing: Option<BillingMode>,
    /// New provisioned throughput.
    pub throughput: Option<Throughput>,
    /// New on-demand limits.
    pub on_demand: Option<OnDemandThroughput>,
    /// New warm throughput.
    pub warm: Option<WarmThroughput>,
    /// Changes to global secondary indexes.
    pub indexes: Vec<GlobalIndexChange>,
    /// Enables or disables the change stream.
    pub stream: Option<StreamChange>,
    /// New server-side encryption.
    pub sse: Option<SseSpecification>,
    /// New storage class.
    pub class: Option<TableClass>,
    /// New deletion protection.
    pub deletion_protected: Option<bool>,
}

/// A change to one global secondary index.
#[derive(Clone, Debug, PartialEq)]
pub enum GlobalIndexChange {
    /// Creates an index and backfills it.
    Create(GlobalIndex),
    /// Changes the throughput of an index.
    Update {
        /// Index name.
        name: String,
        /// New provisioned throughput.
        throughput: Option<Throughput>,
        /// New on-demand limits.
        on_demand: Option<OnDemandThroughput>,
        /// New warm throughput.
        warm: Option<WarmThroughput>,
    },
    /// Deletes an index.
    Delete {
        /// Index name.
        name: String,
    },
}

/// A change to the stream of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamChange {
    /// Starts a new stream with this view.
    Enable(StreamView),
    /// Ends the stream; its records stay readable until they are trimmed.
    Disable,
}

/// Deletes a table with its items and indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteTable {
    /// Table name or ARN.
    pub table: String,
}

/// Lists tables in name order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTables {
    /// Last name of the previous page.
    pub start: Option<String>,
    /// Maximum number of names; 100 by default.
    pub limit: Option<usize>,
}

/// Response of ListTables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTablesOutput {
    /// Table names in order.
    pub tables: Vec<String>,
    /// Last name of this page; `None` on the last page.
    pub last: Option<String>,
}

/// Enables or disables item expiry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateTimeToLive {
    /// Table name or ARN.
    pub table: String,
    /// New setting.
    pub setting: TimeToLive,
}

/// Describes the item expiry of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeTimeToLive {
    /// Table name or ARN.
    pub table: String,
}

/// Item expiry setting of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeToLive {
    /// Attribute that holds the expiry time, in seconds since the Unix epoch.
    pub attribute: String,
    /// True to let items expire, false to keep them.
    pub enabled: bool,
}

/// Response of DescribeTimeToLive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeToLiveStatus {
    /// Expiry attribute; `None` while expiry is disabled.
    pub attribute: Option<String>,
}

/// Describes the continuous backups of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribeContinuousBackups {
    /// Table name or ARN.
    pub table: String,
}

/// Enables or disables point-in-time recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateContinuousBackups {
    /// Table name or ARN.
    pub table: String,
    /// True to enable point-in-time recovery, false to disable it.
    pub recovery: bool,
}

/// Response about continuous backups, which are always enabled; point-in-time recovery is a separate setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContinuousBackups {
    /// True if point-in-time recovery is enabled.
    pub recovery: bool,
}

/// Adds tags to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagResource {
    /// Amazon Resource Name of the table.
    pub arn: String,
    /// Tags to add; a tag with an existing key replaces its value.
    pub tags: Vec<Tag>,
}

/// Removes tags from a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntagResource {
    /// Amazon Resource Name of the table.
    pub arn: String,
    /// Keys of the tags to remove.
    pub keys: Vec<String>,
}

/// Lists the tags of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTagsOfResource {
    /// Amazon Resource Name of the table.
    pub arn: String,
    /// Token of the previous page.
    pub next: Option<String>,
}

/// Response of ListTagsOfResource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTagsOfResourceOutput {
    /// Tags of this page.
    pub tags: Vec<Tag>,
    /// Token of the next page; `None` on the last page.
    pub next: Option<String>,
}

/// Describes the throughput limits of the account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DescribeLimits;

/// Response of DescribeLimits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescribeLimitsOutput {
    /// Maximum throughput of all tables together.
    pub account: Throughput,
    /// Maximum throughput of one table.
    pub table: Throughput,
}
