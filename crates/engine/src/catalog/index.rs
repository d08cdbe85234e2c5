//! One index of a table: its key and what it copies.

use std::collections::BTreeSet;
use std::sync::Arc;

use keyform_core::table::{OnDemandThroughput, Projection, Status, ThroughputDescription, WarmThroughput};

use super::{KeyLayout, Statistics};
use crate::layout::IndexId;

/// A secondary index.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its number.
    pub id: IndexId,
    /// Its name.
    pub name: String,
    /// Local or global.
    pub kind: IndexKind,
    /// Its key.
    pub key: KeyLayout,
    /// What it copies, as the request stated it.
    pub projection: Projection,
    /// What it copies, with the keys of table and index.
    pub projected: Projected,
    /// Its entries, counted. Shared by all states of the index.
    pub statistics: Arc<Statistics>,
}

/// What only global indexes have.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexKind {
    /// In the table's partitions, with another sort key.
    Local,
    /// With partitions of its own.
    Global {
        /// Its state.
        status: Status,
        /// Whether existing items are being copied into it.
        backfilling: bool,
        /// Its throughput.
        throughput: ThroughputDescription,
        /// Its on-demand limits.
        on_demand: Option<OnDemandThroughput>,
        /// Its warm throughput.
        warm: Option<WarmThroughput>,
    },
}

/// The attributes that an index has of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projected {
    /// All.
    All,
    /// These.
    Only(BTreeSet<String>),
}

impl Projected {
    /// What an index with these keys and that projection has.
    pub fn new(projection: &Projection, table: &KeyLayout, index: &KeyLayout) -> Self {
        let keys = table.attributes().chain(index.attributes()).map(|attribute| attribute.name.clone());
        match projection {
            Projection::All => Self::All,
            Projection::KeysOnly => Self::Only(keys.collect()),
            Projection::Include(names) => Self::Only(keys.chain(names.iter().cloned()).collect()),
        }
    }

    /// Whether the index has the attribute.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }
}

impl Index {
    /// Whether it is a local one.
    pub fn is_local(&self) -> bool {
        matches!(self.kind, IndexKind::Local)
    }

    /// Whether it answers queries; a global index does not while it is being made or removed.
    pub fn is_readable(&self) -> bool {
        match &self.kind {
            IndexKind::Local => true,
            IndexKind::Global { status, .. } => matches!(status, Status::Active | Status::Updating),
        }
    }
}
