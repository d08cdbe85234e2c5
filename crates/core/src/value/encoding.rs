//! Binary encoding of items and values (ADR 0002).
//!
//! ```text
//! item   = version entry*                  version is one byte, now 1; entries sorted by name, no name twice
//! entry  = length name value               length is a varint, name is UTF-8
//! value  = tag length payload              length is a varint
//! payload by tag:
//!   S  UTF-8        N  ordered number (see `number`)     B  bytes
//!   BOOL  one byte  NULL  nothing
//!   M  entry*       L  value*
//!   SS, NS, BS  (length element)*          elements sorted, none twice
//! ```
//!
//! Every value carries its length, so that a reader can skip the values it does not need.

use super::{AttributeType, AttributeValue, Attributes};

/// Version byte at the start of every encoded item. A new encoding is a change of the disk
/// format and needs another version.
pub const ITEM_VERSION: u8 = 1;

/// Returns the tag byte of a type.
pub(crate) fn tag(kind: AttributeType) -> u8 {
    match kind {
        AttributeType::S => 1,
        AttributeType::N => 2,
        AttributeType::B => 3,
        AttributeType::Bool => 4,
        AttributeType::Null => 5,
        AttributeType::M => 6,
        AttributeType::L => 7,
        AttributeType::Ss => 8,
        AttributeType::Ns => 9,
        AttributeType::Bs => 10,
    }
}

/// Returns the type of a tag byte. The order of [`AttributeType::ALL`] is the order of the tags.
pub(crate) fn kind_of_tag(tag: u8) -> Option<AttributeType> {
    AttributeType::ALL.get(usize::from(tag).checked_sub(1)?).copied()
}

/// Appends an item: the version byte and the sorted entries.
pub(crate) fn write_item(out: &mut Vec<u8>, attributes: &Attributes) {
    out.push(ITEM_VERSION);
    write_entries(out, attributes);
}

/// Appends one value: the tag of its type and its content.
pub(crate) fn write_value(out: &mut Vec<u8>, value: &AttributeValue) {
    out.push(tag(value.kind()));
    match value {
        AttributeValue::S(text) => write_chunk(out, text.as_bytes()),
        AttributeValue::B(bytes) => write_chunk(out, bytes),
        AttributeValue::N(number) => write_chunk(out, number.to_ordered().as_bytes()),
        AttributeValue::Bool(value) => write_chunk(out, &[u8::from(*value)]),
        AttributeValue::Null => write_chunk(out, &[]),
        AttributeValue::M(entries) => write_nested(out, |out| write_entries(out, entries)),
        AttributeValue::L(values) => write_nested(out, |out| values.iter().for_each(|value| write_value(out, value))),
        AttributeValue::Ss(set) => write_nested(out, |out| set.iter().for_each(|e| write_chunk(out, e.as_bytes()))),
        AttributeValue::Bs(set) => write_nested(out, |out| set.iter().for_each(|e| write_chunk(out, e))),
        AttributeValue::Ns(set) => {
            write_nested(out, |out| set.iter().for_each(|e| write_chunk(out, e.to_ordered().as_bytes())));
        }
    }
}

/// Returns the initial buffer capacity for a value. It is exact for strings and binaries, so that large ones are
/// written without reallocation.
pub(crate) fn capacity(value: &AttributeValue) -> usize {
    let chunk = |length: usize| 1 + varint_bytes(length) + length;
    match value {
        AttributeValue::S(text) => chunk(text.len()),
        AttributeValue::B(bytes) => chunk(bytes.len()),
        _ => USUAL_BYTES,
    }
}

/// Capacity that suffices for most other values.
const USUAL_BYTES: usize = 32;

/// Appends an entry with an already encoded value.
pub(crate) fn write_raw_entry(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    write_chunk(out, name.as_bytes());
    out.extend_from_slice(value);
}

/// Appends a length prefix and the bytes.
pub(crate) fn write_chunk(out: &mut Vec<u8>, bytes: &[u8]) {
    write_varint(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends the output of `fill` with a length prefix.
pub(crate) fn write_nested(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    fill(out);
    let length = out.len() - start;
    let mut prefix = Vec::with_capacity(5);
    write_varint(&mut prefix, length);
    out.splice(start..start, prefix);
}

fn write_entries(out: &mut Vec<u8>, entries: &Attributes) {
    for (name, value) in entries {
        write_chunk(out, name.as_bytes());
        write_value(out, value);
    }
}

fn write_varint(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Returns the encoded length of a varint.
fn varint_bytes(value: usize) -> usize {
    let bits = usize::BITS - value.leading_zeros();
    bits.div_ceil(7).max(1) as usize
}

/// Reads from the front of a slice. Every method returns `None` for malformed bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    pub(crate) fn varint(&mut self) -> Option<usize> {
        let first = self.byte()?;
        if first < 0x80 {
            return Some(usize::from(first));
        }
        self.long_varint(first)
    }

    fn long_varint(&mut self, first: u8) -> Option<usize> {
        let mut value = usize::from(first & 0x7f);
        for shift in [7, 14, 21, 28] {
            let byte = self.byte()?;
            value |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                // Only the canonical varint is valid; a last byte of zero would encode the same length again.
                return (byte != 0).then_some(value);
            }
        }
        None
    }

    /// Reads a length prefix and that number of bytes.
    pub(crate) fn chunk(&mut self) -> Option<&'a [u8]> {
        let length = self.varint()?;
        let (chunk, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(chunk)
    }

    /// Reads a value and returns its tag and payload.
    pub(crate) fn value(&mut self) -> Option<(u8, &'a [u8])> {
        Some((self.byte()?, self.chunk()?))
    }

    /// Reads a value and returns its encoded bytes.
    pub(crate) fn raw_value(&mut self) -> Option<&'a [u8]> {
        let start = self.rest;
        self.value()?;
        start.get(..start.len() - self.rest.len())
    }
}
