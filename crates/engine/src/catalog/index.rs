//! Secondary indexes: key and projection.

use std::collections::BTreeSet;
use std::sync::Arc;

use keyform_core::table::{OnDemandThroughput, Projection, Status, ThroughputDescription, WarmThroughput};

use super::{KeyLayout, Statistics};
use crate::key_space::IndexId;

/// Secondary index of a table.
#[derive(Clone, Debug)]
pub struct Index {
    /// Number of the index; never reused within the table.
    pub id: IndexId,
    /// Name of the index, unique within the table.
    pub name: String,
    /// Local or global, with the state that only global indexes have.
    pub kind: IndexKind,
    /// Key attributes of the index, without the table's key.
    pub key: KeyLayout,
    /// Projection as stated in the request.
    pub projection: Projection,
    /// Projected attributes, including the key attributes of table and index.
    pub projected: Projected,
    /// Number and size of the entries. All versions of this struct share it.
    pub statistics: Arc<Statistics>,
}

/// Kind of a secondary index.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexKind {
    /// Shares the table's partitions, with another sort key.
    Local,
    /// Has partitions of its own.
    Global {
        /// Lifecycle state; the index is not readable while it is being created or deleted.
        status: Status,
        /// True while existing items are copied into the index.
        backfilling: bool,
        /// Provisioned throughput; reported, not enforced.
        throughput: ThroughputDescription,
        /// On-demand limits; reported, not enforced.
        on_demand: Option<OnDemandThroughput>,
        /// Warm throughput; reported, not enforced.
        warm: Option<WarmThroughput>,
    },
}

/// Attributes that an index copies from an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projected {
    /// All attributes.
    All,
    /// Only the named attributes.
    Only(BTreeSet<String>),
}

impl Projected {
    /// Returns the attributes that a projection selects, including the keys of table and index.
    pub fn new(projection: &Projection, table: &KeyLayout, index: &KeyLayout) -> Self {
        let keys = table.attributes().chain(index.attributes()).map(|attribute| attribute.name.clone());
        match projection {
            Projection::All => Self::All,
            Projection::KeysOnly => Self::Only(keys.collect()),
            Projection::Include(names) => Self::Only(keys.chain(names.iter().cloned()).collect()),
        }
    }

    /// Returns whether the index contains the attribute.
    pub fn contains(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
        }
    }
}

impl Index {
    /// Returns whether the index is local.
    pub fn is_local(&self) -> bool {
        matches!(self.kind, IndexKind::Local)
    }

    /// Returns whether the index can be queried; a global index cannot while it is being created or deleted.
    pub fn is_readable(&self) -> bool {
        match &self.kind {
            IndexKind::Local => true,
            IndexKind::Global { status, .. } => matches!(status, Status::Active | Status::Updating),
        }
    }
}
