//! Capacity arithmetic: what an operation consumes by the service's rules, and the shape in which it is reported.

use std::collections::BTreeMap;

/// Bytes that one read unit covers.
const READ_UNIT_BYTES: usize = 4096;
/// Bytes that one write unit covers.
const WRITE_UNIT_BYTES: usize = 1024;

/// How much of the consumption a caller wants to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnConsumedCapacity {
    /// Nothing.
    #[default]
    None,
    /// One sum per table.
    Total,
    /// The sum, and the parts of the table and of each index.
    Indexes,
}

/// How a read is priced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    /// Half a unit for each 4 KB.
    Eventual,
    /// One unit for each 4 KB.
    Strong,
    /// Two units for each 4 KB.
    Transactional,
}

/// The read units for `bytes` read together; reading nothing costs as much as the smallest item.
pub fn read_units(bytes: usize, kind: ReadKind) -> f64 {
    let blocks = bytes.div_ceil(READ_UNIT_BYTES).max(1) as f64;
    match kind {
        ReadKind::Eventual => blocks / 2.0,
        ReadKind::Strong => blocks,
        ReadKind::Transactional => blocks * 2.0,
    }
}

/// The write units for an item of `bytes`; at least one.
pub fn write_units(bytes: usize) -> f64 {
    bytes.div_ceil(WRITE_UNIT_BYTES).max(1) as f64
}

/// What one table consumed in an operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumedCapacity {
    /// The table's name (or the ARN with which it was addressed).
    pub table: String,
    /// Everything together.
    pub total: f64,
    /// The read part, reported by transactions only.
    pub read: Option<f64>,
    /// The write part, reported by transactions only.
    pub write: Option<f64>,
    /// The parts, where [`ReturnConsumedCapacity::Indexes`] asked for them.
    pub detail: Option<CapacityDetail>,
}

/// What the parts of a table consumed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CapacityDetail {
    /// The table itself.
    pub table: f64,
    /// Each local secondary index by name.
    pub local: BTreeMap<String, f64>,
    /// Each global secondary index by name.
    pub global: BTreeMap<String, f64>,
}
