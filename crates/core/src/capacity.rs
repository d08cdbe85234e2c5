//! Capacity units: how many an operation consumes by DynamoDB's rules, and the structure in which they are reported.

use std::collections::BTreeMap;

/// Bytes covered by one read unit.
const READ_UNIT_BYTES: usize = 4096;
/// Bytes covered by one write unit.
const WRITE_UNIT_BYTES: usize = 1024;

/// Level of detail in which a request asks for its consumed capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReturnConsumedCapacity {
    /// No capacity in the response.
    #[default]
    None,
    /// One total per table.
    Total,
    /// The total, plus the shares of the table and of each index.
    Indexes,
}

/// Read consistency, which sets the price of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    /// Eventually consistent: half a unit per 4 KB.
    Eventual,
    /// Strongly consistent: one unit per 4 KB.
    Strong,
    /// Transactional: two units per 4 KB.
    Transactional,
}

/// Returns the read units for `bytes` read together. A read that finds nothing costs as much as the smallest item.
pub fn read_units(bytes: usize, kind: ReadKind) -> f64 {
    let blocks = bytes.div_ceil(READ_UNIT_BYTES).max(1) as f64;
    match kind {
        ReadKind::Eventual => blocks / 2.0,
        ReadKind::Strong => blocks,
        ReadKind::Transactional => blocks * 2.0,
    }
}

/// Returns the write units for an item of `bytes`; at least one.
pub fn write_units(bytes: usize) -> f64 {
    bytes.div_ceil(WRITE_UNIT_BYTES).max(1) as f64
}

/// Capacity that an operation consumed on one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsumedCapacity {
    /// Table name, or the ARN if the request addressed the table by ARN.
    pub table: String,
    /// Sum of read and write units on the table and all its indexes.
    pub total: f64,
    /// Read units; only transactions report them separately.
    pub read: Option<f64>,
    /// Write units; only transactions report them separately.
    pub write: Option<f64>,
    /// Shares of the table and its indexes, if the request asked for [`ReturnConsumedCapacity::Indexes`].
    pub detail: Option<CapacityDetail>,
}

/// Capacity consumed by a table and by each of its indexes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CapacityDetail {
    /// Units of the table itself.
    pub table: f64,
    /// Units of each local secondary index, by index name.
    pub local: BTreeMap<String, f64>,
    /// Units of each global secondary index, by index name.
    pub global: BTreeMap<String, f64>,
}
