//! One table: its key, its indexes, and the settings that the service keeps with it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use keyform_core::table::{
    AttributeDefinitions, BillingMode, KeySchema, OnDemandThroughput, ScalarType, SseSpecification, TableClass, Tag,
    ThroughputDescription, WarmThroughput,
};

use super::{Index, Statistics, Stream};
use crate::layout::{IndexId, TableId};

/// A table as it is at one moment.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its number.
    pub id: TableId,
    /// Its name.
    pub name: String,
    /// Its key.
    pub key: KeyLayout,
    /// The types of all key attributes.
    pub attributes: AttributeDefinitions,
    /// Its indexes, local ones first.
    pub indexes: Vec<Index>,
    /// The number that the next index gets.
    pub next_index: u16,
    /// How items expire, while expiry is on.
    pub expiry: Option<Expiry>,
    /// The number that the expiry gets when it is switched on next.
    pub next_expiry: u32,
    /// Its newest stream, if it had one of late.
    pub stream: Option<Arc<Stream>>,
    /// The number that the next stream gets.
    pub next_stream: u32,
    /// What the service keeps and tells, without effect on items.
    pub settings: TableSettings,
    /// Its items, counted. Shared by all states of the table.
    pub statistics: Arc<Statistics>,
}

/// What the service keeps and tells about a table, without effect on items.
#[derive(Clone, Debug, PartialEq)]
pub struct TableSettings {
    /// Its id, a UUID.
    pub uuid: String,
    /// When it was made.
    pub created_ms: u64,
    /// How it is paid for.
    pub billing: BillingMode,
    /// When it last became on-demand.
    pub on_demand_since_ms: Option<u64>,
    /// Its throughput.
    pub throughput: ThroughputDescription,
    /// Its on-demand limits.
    pub on_demand: Option<OnDemandThroughput>,
    /// Its warm throughput.
    pub warm: Option<WarmThroughput>,
    /// Its encryption, if stated.
    pub sse: Option<SseSpecification>,
    /// Its storage class, if stated.
    pub class: Option<TableClass>,
    /// When the class last changed.
    pub class_since_ms: Option<u64>,
    /// Whether it may not be deleted.
    pub deletion_protected: bool,
    /// Its tags.
    pub tags: Vec<Tag>,
}

/// How items of a table expire.
#[derive(Clone, Debug)]
pub struct Expiry {
    /// The attribute that tells when.
    pub attribute: String,
    /// Where its entries are; another place each time it is switched on.
    pub number: u32,
    /// Whether the items that were there before have their entries.
    pub filled: bool,
    /// No item ends before this second; zero while that is not known. Shared by all states of the table.
    pub earliest_secs: Arc<AtomicU64>,
}

/// A key attribute and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAttribute {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: ScalarType,
}

/// The attributes of a key with their types, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyLayout {
    /// The partition key.
    pub partition: Vec<KeyAttribute>,
    /// The sort key.
    pub sort: Vec<KeyAttribute>,
}

impl KeyLayout {
    /// The layout of a schema whose attributes are all defined.
    pub fn new(schema: &KeySchema, definitions: &AttributeDefinitions) -> Self {
        let typed = |names: &[String]| {
            let attribute = |name: &String| definitions.get(name).map(|kind| (name.clone(), *kind));
            names.iter().filter_map(attribute).map(|(name, kind)| KeyAttribute { name, kind }).collect()
        };
        Self { partition: typed(&schema.partition), sort: typed(&schema.sort) }
    }

    /// All attributes, partition before sort.
    pub fn attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        self.partition.iter().chain(&self.sort)
    }

    /// Whether the attribute is part of the key.
    pub fn contains(&self, name: &str) -> bool {
        self.attributes().any(|attribute| attribute.name == name)
    }

    /// The names alone.
    pub fn schema(&self) -> KeySchema {
        let names = |attributes: &[KeyAttribute]| attributes.iter().map(|attribute| attribute.name.clone()).collect();
        KeySchema { partition: names(&self.partition), sort: names(&self.sort) }
    }
}

impl Table {
    /// The index of that name.
    pub fn index(&self, name: &str) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// The index of that number.
    pub fn index_by_id(&self, id: IndexId) -> Option<&Index> {
        self.indexes.iter().find(|index| index.id == id)
    }

    /// A number that no index of the table has had.
    pub fn take_index_id(&mut self) -> IndexId {
        let id = IndexId(self.next_index);
        self.next_index += 1;
        id
    }

    /// Forgets the types of attributes that are in no key any more.
    pub fn drop_unused_attributes(&mut self) {
        let Self { attributes, key, indexes, .. } = self;
        attributes.retain(|name, _| key.contains(name) || indexes.iter().any(|index| index.key.contains(name)));
    }

    /// Whether there is a local index, so that item collections have a size.
    pub fn has_local_index(&self) -> bool {
        self.indexes.iter().any(Index::is_local)
    }
}
