//! Table definitions: keys, indexes, projections, billing, stream and encryption, and the description that
//! DescribeTable returns.

use std::collections::BTreeMap;

use crate::value::AttributeType;

/// Type of a key attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScalarType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
}

impl ScalarType {
    /// Returns the type descriptor: `S`, `N` or `B`.
    pub fn name(self) -> &'static str {
        AttributeType::from(self).name()
    }

    /// Returns the type with this descriptor.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::S, Self::N, Self::B].into_iter().find(|kind| kind.name() == name)
    }
}

impl From<ScalarType> for AttributeType {
    fn from(kind: ScalarType) -> Self {
        match kind {
            ScalarType::S => Self::S,
            ScalarType::N => Self::N,
            ScalarType::B => Self::B,
        }
    }
}

/// Attributes that make up a key. A table has one partition attribute and at most one sort attribute; a global
/// secondary index has up to four of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySchema {
    /// Partition key attributes (`HASH`), in order.
    pub partition: Vec<String>,
    /// Sort key attributes (`RANGE`), in order.
    pub sort: Vec<String>,
}

impl KeySchema {
    /// Returns all key attributes, partition before sort.
    pub fn attributes(&self) -> impl Iterator<Item = &String> {
        self.partition.iter().chain(&self.sort)
    }

    /// Returns whether the attribute is part of the key.
    pub fn contains(&self, name: &str) -> bool {
        self.attributes().any(|attribute| attribute == name)
    }
}

/// Declared types of key attributes, by name.
pub type AttributeDefinitions = BTreeMap<String, ScalarType>;

/// Attributes that an index copies from each item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projection {
    /// Every attribute of the item.
    All,
    /// The keys of the table and of the index only.
    KeysOnly,
    /// The keys and these non-key attributes.
    Include(Vec<String>),
}

/// Provisioned capacity; zero for both means on demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throughput {
    /// Read capacity units per second.
    pub read: u64,
    /// Write capacity units per second.
    pub write: u64,
}

/// Billing mode of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BillingMode {
    /// Capacity is reserved in advance.
    Provisioned,
    /// Each request is billed (on demand).
    PayPerRequest,
}

impl BillingMode {
    /// Returns DynamoDB's name of the mode.
    pub fn name(self) -> &'static str {
        match self {
            Self::Provisioned => "PROVISIONED",
            Self::PayPerRequest => "PAY_PER_REQUEST",
        }
    }
}

/// Throughput limits of an on-demand table or index. They are stored and returned, as DynamoDB does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnDemandThroughput {
    /// Maximum read request units per second.
    pub read_max: Option<i64>,
    /// Maximum write request units per second.
    pub write_max: Option<i64>,
}

/// Throughput that a table or index can serve immediately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmThroughput {
    /// Read units per second.
    pub read: Option<i64>,
    /// Write units per second.
    pub write: Option<i64>,
}

/// A global secondary index as a request defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalIndex {
    /// Index name, unique among the table's indexes.
    pub name: String,
    /// Key schema; its attributes may be missing from an item, which is then not in the index.
    pub key: KeySchema,
    /// Attributes copied into the index.
    pub projection: Projection,
    /// Provisioned throughput, if the request has one.
    pub throughput: Option<Throughput>,
    /// On-demand limits, if the request has them.
    pub on_demand: Option<OnDemandThroughput>,
    /// Warm throughput, if the request has one.
    pub warm: Option<WarmThroughput>,
}

/// A local secondary index as a request defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalIndex {
    /// Index name, unique among the table's indexes.
    pub name: String,
    /// Key schema: the table's partition key and another sort key.
    pub key: KeySchema,
    /// Attributes copied into the index.
    pub projection: Projection,
}

/// Item images that a stream record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamView {
    /// Only the keys.
    KeysOnly,
    /// The keys and the item after the change.
    NewImage,
    /// The keys and the item before the change.
    OldImage,
    /// The keys and both images.
    NewAndOldImages,
}

impl StreamView {
    /// Every view, for lookups by name.
    pub const ALL: [Self; 4] = [Self::KeysOnly, Self::NewImage, Self::OldImage, Self::NewAndOldImages];

    /// Returns DynamoDB's name of the view.
    pub fn name(self) -> &'static str {
        match self {
            Self::KeysOnly => "KEYS_ONLY",
            Self::NewImage => "NEW_IMAGE",
            Self::OldImage => "OLD_IMAGE",
            Self::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }

    /// Returns the view with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name() == name)
    }
}

/// Storage class of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableClass {
    /// `STANDARD`.
    #[default]
    Standard,
    /// `STANDARD_INFREQUENT_ACCESS`.
    StandardInfrequentAccess,
}

impl TableClass {
    /// Returns DynamoDB's name of the class.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "STANDARD",
            Self::StandardInfrequentAccess => "STANDARD_INFREQUENT_ACCESS",
        }
    }
}

/// Server-side encryption that a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseSpecification {
    /// True for a KMS key, false for a key owned by the service.
    pub enabled: bool,
    /// KMS key to use; the account's default key if absent.
    pub kms_key: Option<String>,
}

/// Lifecycle state of a table, an index or a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Being created; not yet usable.
    Creating,
    /// Being changed; still usable.
    Updating,
    /// Being deleted.
    Deleting,
    /// Ready for use.
    Active,
}

impl Status {
    /// Returns DynamoDB's name of the state.
    pub fn name(self) -> &'static str {
        match self {
            Self::Creating => "CREATING",
            Self::Updating => "UPDATING",
            Self::Deleting => "DELETING",
            Self::Active => "ACTIVE",
        }
    }
}

/// Table description that DescribeTable returns.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDescription {
    /// Table name.
    pub name: String,
    /// Table id, a UUID. A table created again under the same name has another id.
    pub id: String,
    /// Amazon Resource Name of the table.
    pub arn: String,
    /// Lifecycle state.
    pub status: Status,
    /// Creation time, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// Types of all key attributes, of the table and its indexes.
    pub attributes: AttributeDefinitions,
    /// Primary key schema.
    pub key: KeySchema,
    /// Billing mode.
    pub billing: BillingMode,
    /// Time of the last switch to on-demand billing, in milliseconds since the Unix epoch.
    pub on_demand_since_ms: Option<u64>,
    /// Provisioned throughput; zero for an on-demand table.
    pub throughput: ThroughputDescription,
    /// On-demand limits, if a request set them.
    pub on_demand: Option<OnDemandThroughput>,
    /// Warm throughput, if a request set it.
    pub warm: Option<WarmThroughput>,
    /// Number of items. DynamoDB refreshes it about every six hours; the embedded database keeps it exact.
    pub item_count: u64,
    /// Total size of all items in bytes.
    pub size_bytes: u64,
    /// Global secondary indexes.
    pub global_indexes: Vec<GlobalIndexDescription>,
    /// Local secondary indexes.
    pub local_indexes: Vec<LocalIndexDescription>,
    /// Latest stream, enabled or not; `None` if the table never had one.
    pub stream: Option<StreamSummary>,
    /// KMS encryption, if a request asked for it.
    pub sse: Option<SseDescription>,
    /// Storage class, if a request set one.
    pub class: Option<TableClass>,
    /// Time of the last change of class, in milliseconds since the Unix epoch.
    pub class_since_ms: Option<u64>,
    /// Deletion protection; while set, DeleteTable is rejected.
    pub deletion_protected: bool,
}

/// Provisioned throughput and its last changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThroughputDescription {
    /// Current capacity units.
    pub units: Throughput,
    /// Time of the last increase, in milliseconds since the Unix epoch.
    pub last_increase_ms: Option<u64>,
    /// Time of the last decrease, in milliseconds since the Unix epoch.
    pub last_decrease_ms: Option<u64>,
    /// Number of decreases on the UTC day of the last decrease.
    pub decreases_today: u64,
}

impl ThroughputDescription {
    /// Returns the description at a later time: the number of decreases begins again every UTC day.
    #[must_use]
    pub fn at(self, now_ms: u64) -> Self {
        const DAY_MS: u64 = 86_400_000;
        let same_day = self.last_decrease_ms.is_some_and(|last_ms| last_ms / DAY_MS == now_ms / DAY_MS);
        Self { decreases_today: if same_day { self.decreases_today } else { 0 }, ..self }
    }
}

/// Description of a global secondary index, part of [`TableDescription`].
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalIndexDescription {
    /// Index definition from the request.
    pub index: GlobalIndex,
    /// Amazon Resource Name of the index.
    pub arn: String,
    /// Lifecycle state.
    pub status: Status,
    /// True while existing items are still being copied into the index.
    pub backfilling: bool,
    /// Provisioned throughput; zero for an on-demand index.
    pub throughput: ThroughputDescription,
    /// Number of index entries.
    pub item_count: u64,
    /// Total size of all index entries in bytes.
    pub size_bytes: u64,
}

/// Description of a local secondary index, part of [`TableDescription`].
#[derive(Clone, Debug, PartialEq)]
pub struct LocalIndexDescription {
    /// Index definition from the request.
    pub index: LocalIndex,
    /// Amazon Resource Name of the index.
    pub arn: String,
    /// Number of index entries.
    pub item_count: u64,
    /// Total size of all index entries in bytes.
    pub size_bytes: u64,
}

/// Latest stream of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSummary {
    /// True while changes are being recorded.
    pub enabled: bool,
    /// Item images that each record carries.
    pub view: StreamView,
    /// Stream label: the time at which the stream was enabled.
    pub label: String,
    /// Amazon Resource Name of the stream.
    pub arn: String,
}

/// KMS encryption, part of [`TableDescription`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseDescription {
    /// DynamoDB's status name, such as `ENABLED` or `UPDATING`.
    pub status: String,
    /// Amazon Resource Name of the KMS key.
    pub kms_key_arn: String,
}

/// Key-value pair attached to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Key, unique among the tags of a table.
    pub key: String,
    /// Value; may be empty.
    pub value: String,
}
