//! One table: its key, its indexes, and the settings that the service keeps with it.

use std::sync::Arc;

use keyform_core::table::{
    AttributeDefinitions, BillingMode, KeySchema, OnDemandThroughput, ScalarType, SseSpecification, StreamView,
    TableClass, Tag, ThroughputDescription, WarmThroughput,
};

use super::{Index, Statistics};
use crate::layout::TableId;

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
    /// The attribute that tells when an item expires, while expiry is on.
    pub expiry: Option<String>,
    /// Its newest stream, if it ever had one.
    pub stream: Option<Stream>,
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

/// A stream of a table's changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Its number within the table; a stream that is switched on anew gets a new one.
    pub number: u32,
    /// Whether changes are being recorded.
    pub enabled: bool,
    /// What a record carries.
    pub view: StreamView,
    /// When it began; its label.
    pub created_ms: u64,
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

    /// Whether there is a local index, so that item collections have a size.
    pub fn has_local_index(&self) -> bool {
        self.indexes.iter().any(Index::is_local)
    }
}
