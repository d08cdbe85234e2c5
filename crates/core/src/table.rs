//! What a table is: keys, indexes, projections, billing, stream, encryption, and the description of all that.

use std::collections::BTreeMap;

use crate::value::AttributeType;

/// The type of a key attribute.
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
    /// `S`, `N` or `B`.
    pub fn name(self) -> &'static str {
        AttributeType::from(self).name()
    }

    /// The type of that name.
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

/// The attributes that make a key. A table has one partition attribute and at most one sort attribute; a global secondary
/// index has up to four of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySchema {
    /// The partition key attributes (`HASH`), in order.
    pub partition: Vec<String>,
    /// The sort key attributes (`RANGE`), in order.
    pub sort: Vec<String>,
}

impl KeySchema {
    /// All attributes, partition before sort.
    pub fn attributes(&self) -> impl Iterator<Item = &String> {
        self.partition.iter().chain(&self.sort)
    }

    /// Whether the attribute is part of the key.
    pub fn contains(&self, name: &str) -> bool {
        self.attributes().any(|attribute| attribute == name)
    }
}

/// The declared types of key attributes, by name.
pub type AttributeDefinitions = BTreeMap<String, ScalarType>;

/// What an index copies of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projection {
    /// The whole item.
    All,
    /// The keys of the table and of the index.
    KeysOnly,
    /// The keys and these attributes.
    Include(Vec<String>),
}

/// Read and write capacity; zero of each means on demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throughput {
    /// Read capacity units.
    pub read: u64,
    /// Write capacity units.
    pub write: u64,
}

/// How a table is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BillingMode {
    /// Capacity is reserved.
    Provisioned,
    /// Each request is paid.
    PayPerRequest,
}

impl BillingMode {
    /// The service's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Provisioned => "PROVISIONED",
            Self::PayPerRequest => "PAY_PER_REQUEST",
        }
    }
}

/// Limits of an on-demand table or index; the service keeps and returns them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OnDemandThroughput {
    /// The most read request units a second.
    pub read_max: Option<i64>,
    /// The most write request units a second.
    pub write_max: Option<i64>,
}

/// The throughput that a table or index is warmed up for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmThroughput {
    /// Read units a second.
    pub read: Option<i64>,
    /// Write units a second.
    pub write: Option<i64>,
}

/// A global secondary index as a request states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalIndex {
    /// Its name.
    pub name: String,
    /// Its key.
    pub key: KeySchema,
    /// What it copies.
    pub projection: Projection,
    /// Its provisioned throughput, if stated.
    pub throughput: Option<Throughput>,
    /// Its on-demand limits, if stated.
    pub on_demand: Option<OnDemandThroughput>,
    /// Its warm throughput, if stated.
    pub warm: Option<WarmThroughput>,
}

/// A local secondary index as a request states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalIndex {
    /// Its name.
    pub name: String,
    /// Its key: the table's partition key and another sort key.
    pub key: KeySchema,
    /// What it copies.
    pub projection: Projection,
}

/// What a stream record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamView {
    /// The keys.
    KeysOnly,
    /// The keys and the item after the change.
    NewImage,
    /// The keys and the item before the change.
    OldImage,
    /// The keys and both images.
    NewAndOldImages,
}

impl StreamView {
    /// All views.
    pub const ALL: [Self; 4] = [Self::KeysOnly, Self::NewImage, Self::OldImage, Self::NewAndOldImages];

    /// The service's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::KeysOnly => "KEYS_ONLY",
            Self::NewImage => "NEW_IMAGE",
            Self::OldImage => "OLD_IMAGE",
            Self::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }

    /// The view of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name() == name)
    }
}

/// The storage class of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableClass {
    /// `STANDARD`.
    #[default]
    Standard,
    /// `STANDARD_INFREQUENT_ACCESS`.
    StandardInfrequentAccess,
}

impl TableClass {
    /// The service's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "STANDARD",
            Self::StandardInfrequentAccess => "STANDARD_INFREQUENT_ACCESS",
        }
    }
}

/// The encryption that a request asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseSpecification {
    /// Whether a KMS key is used.
    pub enabled: bool,
    /// Which key, if not the account's own.
    pub kms_key: Option<String>,
}

/// The state of a table or an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Being made.
    Creating,
    /// Being changed.
    Updating,
    /// Being removed.
    Deleting,
    /// In use.
    Active,
}

impl Status {
    /// The service's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Creating => "CREATING",
            Self::Updating => "UPDATING",
            Self::Deleting => "DELETING",
            Self::Active => "ACTIVE",
        }
    }
}

/// A table as DescribeTable tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableDescription {
    /// Its name.
    pub name: String,
    /// Its id, a UUID.
    pub id: String,
    /// Its ARN.
    pub arn: String,
    /// Its state.
    pub status: Status,
    /// When it was made, in milliseconds of the Unix epoch.
    pub created_ms: u64,
    /// The types of all key attributes.
    pub attributes: AttributeDefinitions,
    /// Its key.
    pub key: KeySchema,
    /// How it is paid for.
    pub billing: BillingMode,
    /// When it last became on-demand, in milliseconds of the Unix epoch.
    pub on_demand_since_ms: Option<u64>,
    /// Its throughput.
    pub throughput: ThroughputDescription,
    /// Its on-demand limits.
    pub on_demand: Option<OnDemandThroughput>,
    /// Its warm throughput.
    pub warm: Option<WarmThroughput>,
    /// How many items it has.
    pub item_count: u64,
    /// How large all items are.
    pub size_bytes: u64,
    /// Its global secondary indexes.
    pub global_indexes: Vec<GlobalIndexDescription>,
    /// Its local secondary indexes.
    pub local_indexes: Vec<LocalIndexDescription>,
    /// Its stream, if it has one or had one.
    pub stream: Option<StreamSummary>,
    /// Its encryption with a KMS key, where one was asked for.
    pub sse: Option<SseDescription>,
    /// Its storage class, once one was stated.
    pub class: Option<TableClass>,
    /// When the class was last changed, in milliseconds of the Unix epoch.
    pub class_since_ms: Option<u64>,
    /// Whether it may not be deleted.
    pub deletion_protected: bool,
}

/// Throughput and when it last changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThroughputDescription {
    /// The units.
    pub units: Throughput,
    /// When it was last raised, in milliseconds of the Unix epoch.
    pub last_increase_ms: Option<u64>,
    /// When it was last lowered, in milliseconds of the Unix epoch.
    pub last_decrease_ms: Option<u64>,
    /// How often it was lowered today.
    pub decreases_today: u64,
}

/// A global secondary index as DescribeTable tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalIndexDescription {
    /// What the request stated.
    pub index: GlobalIndex,
    /// Its ARN.
    pub arn: String,
    /// Its state.
    pub status: Status,
    /// Whether existing items are being copied into it.
    pub backfilling: bool,
    /// Its throughput.
    pub throughput: ThroughputDescription,
    /// How many entries it has.
    pub item_count: u64,
    /// How large all entries are.
    pub size_bytes: u64,
}

/// A local secondary index as DescribeTable tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalIndexDescription {
    /// What the request stated.
    pub index: LocalIndex,
    /// Its ARN.
    pub arn: String,
    /// How many entries it has.
    pub item_count: u64,
    /// How large all entries are.
    pub size_bytes: u64,
}

/// The newest stream of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamSummary {
    /// Whether changes are being recorded.
    pub enabled: bool,
    /// What a record carries.
    pub view: StreamView,
    /// The stream's label, a time.
    pub label: String,
    /// The stream's ARN.
    pub arn: String,
}

/// Encryption with a KMS key as DescribeTable tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseDescription {
    /// `ENABLED`, `UPDATING` and so on.
    pub status: String,
    /// The key's ARN.
    pub kms_key_arn: String,
}

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
}
