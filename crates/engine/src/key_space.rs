//! Layout of the store's single ordered key space.
//!
//! ```text
//! 00 …                                             engine records: catalog, idempotency tokens, statistics
//! 01 table index hash partition sort [table key]   items (index 0) and their copies in indexes
//! 01 table fffe  number seconds  table key         expiry entries; a new number each time expiry is enabled
//! 01 table ffff  stream shard  sequence            stream records
//! ```
//!
//! `table` is a `u32` and `index` a `u16`; neither is reused after it is dropped. `hash` is a 64-bit hash of the
//! partition key: a scan visits partitions in no meaningful order, and a parallel scan can split the space into equal
//! parts. Encoded key values sort in the order of the values and are self-delimiting:
//!
//! ```text
//! string, binary   bytes with 00 written as 00 ff, terminated by 00 01
//! number           see `Number::to_ordered`
//! ```

use keyform_core::ValueRef;

const SYSTEM: u8 = 0;
const TABLES: u8 = 1;

/// Number of a table; never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u32);

/// Number of an index within its table; never reused there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexId(pub u16);

impl IndexId {
    /// Items of the table itself.
    pub const BASE: Self = Self(0);
    /// Expiry entries of the table, by time.
    pub const EXPIRY: Self = Self(0xfffe);
    /// Records of the table's streams, by shard and sequence number.
    pub const STREAM: Self = Self(0xffff);
}

/// Returns the key of an engine record; `kind` is the record type, `name` identifies the record within it.
pub fn system_key(kind: u8, name: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(2 + name.len());
    key.extend_from_slice(&[SYSTEM, kind]);
    key.extend_from_slice(name);
    key
}

/// Returns the common prefix of all keys of a table.
pub fn table_prefix(table: TableId) -> Vec<u8> {
    let mut key = Vec::with_capacity(96);
    key.push(TABLES);
    key.extend_from_slice(&table.0.to_be_bytes());
    key
}

/// Returns the common prefix of all keys of an index.
pub fn index_prefix(table: TableId, index: IndexId) -> Vec<u8> {
    let mut key = table_prefix(table);
    key.extend_from_slice(&index.0.to_be_bytes());
    key
}

/// Returns the common prefix of all keys of one partition of an index; `partition` is the encoded partition key.
pub fn partition_prefix(table: TableId, index: IndexId, partition: &[u8]) -> Vec<u8> {
    let mut key = index_prefix(table, index);
    key.extend_from_slice(&partition_hash(partition).to_be_bytes());
    key.extend_from_slice(partition);
    key
}

/// Returns the hash that spreads partitions over the key space.
pub fn partition_hash(partition: &[u8]) -> u64 {
    twox_hash::XxHash3_64::oneshot(partition)
}

/// Returns the partition hash in the key of an item or index entry.
pub fn hash_of_key(key: &[u8]) -> Option<u64> {
    const START: usize = 1 + 4 + 2;
    key.get(START..)?.first_chunk().map(|hash| u64::from_be_bytes(*hash))
}

/// Appends an encoded key value. Only strings, numbers and binaries can be keys.
pub fn write_key_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::S(text) => write_terminated(out, text.as_bytes()),
        ValueRef::B(bytes) => write_terminated(out, bytes),
        ValueRef::N(number) => out.extend_from_slice(number.to_ordered().as_bytes()),
        other => debug_assert!(false, "{} is no type of keys", other.kind()),
    }
}

/// Appends a string or binary without its terminator: the common prefix of all values that begin with it.
pub fn write_key_prefix(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::S(text) => write_escaped(out, text.as_bytes()),
        ValueRef::B(bytes) => write_escaped(out, bytes),
        other => debug_assert!(false, "{} has no beginning", other.kind()),
    }
}

fn write_terminated(out: &mut Vec<u8>, bytes: &[u8]) {
    write_escaped(out, bytes);
    out.extend_from_slice(&[0, 1]);
}

fn write_escaped(out: &mut Vec<u8>, bytes: &[u8]) {
    let mut runs = bytes.split(|byte| *byte == 0);
    out.extend_from_slice(runs.next().unwrap_or_default());
    for run in runs {
        out.extend_from_slice(&[0, 0xff]);
        out.extend_from_slice(run);
    }
}

/// Returns the smallest key above every key that starts with `prefix`, or `None` if no such key exists.
pub fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut key = prefix[..=last].to_vec();
    key[last] += 1;
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyform_core::{AttributeValue, Value};
    use proptest::prelude::*;

    fn encoded(value: &AttributeValue) -> Vec<u8> {
        let mut out = Vec::new();
        write_key_value(&mut out, Value::from(value).view());
        out
    }

    proptest! {
        #[test]
        fn encoded_binaries_sort_as_binaries_do(a in any::<Vec<u8>>(), b in any::<Vec<u8>>(), tail in any::<[u8; 3]>()) {
            let mut first = encoded(&AttributeValue::B(a.clone()));
            let mut second = encoded(&AttributeValue::B(b.clone()));
            if a != b {
                first.extend_from_slice(&tail);
            }
            second.extend_from_slice(&tail);
            let expected = if a == b { first.cmp(&second) } else { a.cmp(&b) };
            prop_assert_eq!(first.cmp(&second), expected);
        }

        #[test]
        fn everything_with_a_prefix_lies_below_what_comes_after_it(prefix in any::<Vec<u8>>(), tail in any::<Vec<u8>>()) {
            let whole = [prefix.clone(), tail].concat();
            if let Some(after) = after_prefix(&prefix) {
                prop_assert!(whole < after && prefix < after);
            }
        }
    }
}
