//! Table: key, indexes, and the settings that DynamoDB reports.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use keyform_core::table::{
    AttributeDefinitions, BillingMode, KeySchema, OnDemandThroughput, ScalarType, SseSpecification, TableClass, Tag,
    ThroughputDescription, WarmThroughput,
};

use super::{Index, Statistics, Stream};
use crate::key_space::{IndexId, TableId};

/// Table at one point in time; a change replaces it.
#[derive(Clone, Debug)]
pub struct Table {
    /// Number of the table; never reused.
    pub id: TableId,
    /// Name of the table, unique in the catalog.
    pub name: String,
    /// Key attributes with their types.
    pub key: KeyLayout,
    /// Types of all key attributes of the table and its indexes.
    pub attributes: AttributeDefinitions,
    /// Secondary indexes, local ones first.
    pub indexes: Vec<Index>,
    /// Number of the next index.
    pub next_index: u16,
    /// Expiry configuration, while expiry is enabled.
    pub expiry: Option<Expiry>,
    /// Number that expiry gets when it is enabled next.
    pub next_expiry: u32,
    /// Newest stream; kept until its records are trimmed after it was disabled.
    pub stream: Option<Arc<Stream>>,
    /// Number of the next stream.
    pub next_stream: u32,
    /// Settings that are reported but do not affect items.
    pub settings: TableSettings,
    /// Number and size of the items. All versions of this struct share it.
    pub statistics: Arc<Statistics>,
}

/// Settings that are reported but do not affect items.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSettings {
    /// Table id in responses, a UUID.
    pub uuid: String,
    /// Creation time, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// Billing mode, on-demand or provisioned.
    pub billing: BillingMode,
    /// Last switch to on-demand billing.
    pub on_demand_since_ms: Option<u64>,
    /// Provisioned throughput; reported, not enforced.
    pub throughput: ThroughputDescription,
    /// On-demand limits; reported, not enforced.
    pub on_demand: Option<OnDemandThroughput>,
    /// Warm throughput; reported, not enforced.
    pub warm: Option<WarmThroughput>,
    /// Requested server-side encryption; reported only, the store encrypts all tables alike.
    pub sse: Option<SseSpecification>,
    /// Requested storage class.
    pub class: Option<TableClass>,
    /// Last change of the storage class.
    pub class_since_ms: Option<u64>,
    /// Rejects `DeleteTable` while true.
    pub deletion_protected: bool,
    /// Tags, sorted by key.
    pub tags: Vec<Tag>,
}

/// Expiry (TTL) configuration of a table.
#[derive(Clone, Debug)]
pub struct Expiry {
    /// Attribute that holds the expiry time, in seconds since the Unix epoch.
    pub attribute: String,
    /// Number in the keys of the expiry entries; a new one each time expiry is enabled.
    pub number: u32,
    /// True when the items that existed before have their entries.
    pub filled: bool,
    /// Lower bound of all expiry times, so that a sweep knows when to scan; zero while unknown. All versions of the
    /// table share it.
    pub earliest_secs: Arc<AtomicU64>,
}

/// Key attribute and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAttribute {
    /// Attribute name.
    pub name: String,
    /// String, number or binary.
    pub kind: ScalarType,
}

/// Key attributes with their types, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLayout {
    /// Attributes of the partition key.
    pub partition: Vec<KeyAttribute>,
    /// Attributes of the sort key; empty if the key has none.
    pub sort: Vec<KeyAttribute>,
}

impl KeyLayout {
    /// Returns the layout of a schema. All its attributes must be defined.
    pub fn new(schema: &KeySchema, definitions: &AttributeDefinitions) -> Self {
        let typed = |names: &[String]| {
            let attribute = |name: &String| definitions.get(name).map(|kind| (name.clone(), *kind));
            names.iter().filter_map(attribute).map(|(name, kind)| KeyAttribute { name, kind }).collect()
        };
        Self { partition: typed(&schema.partition), sort: typed(&schema.sort) }
    }

    /// Returns all attributes, partition key first.
    pub fn attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        self.partition.iter().chain(&self.sort)
    }

    /// Returns whether the attribute is part of the key.
    pub fn contains(&self, name: &str) -> bool {
        self.attributes().any(|attribute| attribute.name == name)
    }

    /// Returns the attribute names without their types.
    pub fn schema(&self) -> KeySchema {
        let names = |attributes: &[KeyAttribute]| attributes.iter().map(|attribute| attribute.name.clone()).collect();
        KeySchema { partition: names(&self.partition), sort: names(&self.sort) }
    }
}

impl Table {
    /// Returns the index with that name.
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// Returns the index with that number.
    pub fn index_by_id(&self, id: IndexId) -> Option<&Index> {
        self.indexes.iter().find(|index| index.id == id)
    }

    /// Returns an unused index number and advances the counter.
    pub fn take_index_id(&mut self) -> IndexId {
        let id = IndexId(self.next_index);
        self.next_index += 1;
        id
    }

    /// Removes the types of attributes that no key uses any more.
    pub fn drop_unused_attributes(&mut self) {
        let Self { attributes, key, indexes, .. } = self;
        attributes.retain(|name, _| key.contains(name) || indexes.iter().any(|index| index.key.contains(name)));
    }

    /// Returns whether the table has a local index, so that its item collections have a size.
    pub fn has_local_index(&self) -> bool {
        self.indexes.iter().any(Index::is_local)
    }
}
