//! Requests about tables.

use crate::table::{
    AttributeDefinitions, BillingMode, GlobalIndex, KeySchema, LocalIndex, OnDemandThroughput, SseSpecification,
    StreamView, TableClass, Tag, Throughput, WarmThroughput,
};

/// Makes a table.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// Its name.
    pub table: String,
    /// The types of all key attributes, of the table and its indexes.
    pub attributes: AttributeDefinitions,
    /// Its key.
    pub key: KeySchema,
    /// Its global secondary indexes.
    pub global_indexes: Vec<GlobalIndex>,
    /// Its local secondary indexes.
    pub local_indexes: Vec<LocalIndex>,
    /// How it is paid for.
    pub billing: BillingMode,
    /// Its provisioned throughput.
    pub throughput: Option<Throughput>,
    /// Its on-demand limits.
    pub on_demand: Option<OnDemandThroughput>,
    /// Its warm throughput.
    pub warm: Option<WarmThroughput>,
    /// Its stream, if it shall have one.
    pub stream: Option<StreamView>,
    /// Its encryption, if stated.
    pub sse: Option<SseSpecification>,
    /// Its storage class, if stated.
    pub class: Option<TableClass>,
    /// Whether it may not be deleted.
    pub deletion_protected: bool,
    /// Its tags.
    pub tags: Vec<Tag>,
}

impl CreateTable {
    /// A table of that name without a key, on demand: the start of a request.
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

/// Changes a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateTable {
    /// Which table, by name or ARN.
    pub table: String,
    /// The types of key attributes, for a new index.
    pub attributes: AttributeDefinitions,
    /// How it is paid for from now on.
    pub billing: Option<BillingMode>,
    /// Its provisioned throughput from now on.
    pub throughput: Option<Throughput>,
    /// Its on-demand limits from now on.
    pub on_demand: Option<OnDemandThroughput>,
    /// Its warm throughput from now on.
    pub warm: Option<WarmThroughput>,
    /// Changes of global secondary indexes.
    pub indexes: Vec<GlobalIndexChange>,
    /// The stream switched on or off.
    pub stream: Option<StreamChange>,
    /// Its encryption from now on.
    pub sse: Option<SseSpecification>,
    /// Its storage class from now on.
    pub class: Option<TableClass>,
    /// Whether it may not be deleted from now on.
    pub deletion_protected: Option<bool>,
}

/// A change of one global secondary index.
#[derive(Clone, Debug, PartialEq)]
pub enum GlobalIndexChange {
    /// A new one.
    Create(GlobalIndex),
    /// Other throughput for one.
    Update {
        /// Which.
        name: String,
        /// Its provisioned throughput.
        throughput: Option<Throughput>,
        /// Its on-demand limits.
        on_demand: Option<OnDemandThroughput>,
        /// Its warm throughput.
        warm: Option<WarmThroughput>,
    },
    /// One less.
    Delete {
        /// Which.
        name: String,
    },
}

/// A change of a table's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamChange {
    /// A new stream begins.
    Enable(StreamView),
    /// The stream ends; its records stay until they are trimmed.
    Disable,
}

/// Lists tables by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTables {
    /// After which name.
    pub start: Option<String>,
    /// How many at the most; a hundred if not stated.
    pub limit: Option<usize>,
}

/// The answer of ListTables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTablesOutput {
    /// The names in order.
    pub tables: Vec<String>,
    /// The last of them, if there are more.
    pub last: Option<String>,
}

/// Switches expiry on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateTimeToLive {
    /// Which table, by name or ARN.
    pub table: String,
    /// The attribute that holds the time, and whether it counts.
    pub setting: TimeToLive,
}

/// The setting of a table's expiry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeToLive {
    /// The attribute that holds the time in seconds of the Unix epoch.
    pub attribute: String,
    /// Whether it counts.
    pub enabled: bool,
}

/// The answer of DescribeTimeToLive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeToLiveStatus {
    /// The attribute, while expiry is on.
    pub attribute: Option<String>,
}

/// Switches point-in-time recovery on or off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateContinuousBackups {
    /// Which table, by name or ARN.
    pub table: String,
    /// Whether the table can be restored as it was at any time.
    pub recovery: bool,
}

/// The answer about continuous backups, which are always on: whether there is point-in-time recovery as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContinuousBackups {
    /// Whether the table can be restored as it was at any time.
    pub recovery: bool,
}

/// Adds tags to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagResource {
    /// The table's ARN.
    pub arn: String,
    /// The tags.
    pub tags: Vec<Tag>,
}

/// Takes tags from a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UntagResource {
    /// The table's ARN.
    pub arn: String,
    /// The tags' keys.
    pub keys: Vec<String>,
}

/// Lists the tags of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTagsOfResource {
    /// The table's ARN.
    pub arn: String,
    /// Where the last page ended.
    pub next: Option<String>,
}

/// The answer of ListTagsOfResource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListTagsOfResourceOutput {
    /// The tags.
    pub tags: Vec<Tag>,
    /// Where the next page starts, if there is one.
    pub next: Option<String>,
}

/// The answer of DescribeLimits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescribeLimitsOutput {
    /// For all tables together.
    pub account: Throughput,
    /// For one table.
    pub table: Throughput,
}
