//! Encoded items and values: immutable bytes, validated once when they are decoded (ADR 0002).

use std::fmt;

use bytes::Bytes;

use super::encoding::{self, ITEM_VERSION, Reader};
use super::{AttributeType, AttributeValue, Attributes, Entries, MapRef, Number, ValueRef};
use crate::limits::NESTING_DEPTH_MAX;

/// An item in its encoded form. Cloning shares the bytes. The encoding is canonical, so equal items have equal bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct Item {
    bytes: Bytes,
}

/// Error for bytes that are not a well-formed item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptItem;

impl fmt::Display for CorruptItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are not a well-formed item")
    }
}

impl std::error::Error for CorruptItem {}

impl Item {
    /// Validates bytes produced by [`Item::as_bytes`].
    ///
    /// # Errors
    /// Returns an error unless the bytes are exactly one well-formed item in canonical form.
    pub fn decode(bytes: Bytes) -> Result<Self, CorruptItem> {
        match bytes.split_first() {
            Some((&ITEM_VERSION, entries)) if entries_are_valid(entries, 0) => Ok(Self { bytes }),
            _ => Err(CorruptItem),
        }
    }

    /// Returns the encoded bytes, as they are stored.
    pub fn as_bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns the attribute with this name.
    pub fn get(&self, name: &str) -> Option<ValueRef<'_>> {
        self.as_map().get(name)
    }

    /// Returns all attributes in name order.
    pub fn iter(&self) -> Entries<'_> {
        self.as_map().iter()
    }

    /// Returns the item as a map view.
    pub fn as_map(&self) -> MapRef<'_> {
        MapRef::new(&self.bytes[1..])
    }

    /// Decodes the item to its tree form.
    pub fn to_attributes(&self) -> Attributes {
        self.as_map().to_tree()
    }

    /// Returns the item size in bytes by DynamoDB's rules, which is not the encoded length.
    pub fn size(&self) -> usize {
        super::size::of_map_entries(self.as_map())
    }

    /// Builds an item from entries that `write` appends in name order.
    pub(crate) fn written(capacity: usize, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let mut out = Vec::with_capacity(capacity);
        out.push(ITEM_VERSION);
        write(&mut out);
        Self { bytes: out.into() }
    }

    /// Returns the item reduced to the top-level attributes that `keep` accepts.
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> Self {
        Self::written(self.bytes.len(), |out| {
            let mut entries = self.iter();
            while let Some((name, value)) = entries.next_raw() {
                if keep(name) {
                    encoding::write_raw_entry(out, name, value);
                }
            }
        })
    }
}

impl From<&Attributes> for Item {
    fn from(attributes: &Attributes) -> Self {
        let mut out = Vec::with_capacity(256);
        encoding::write_item(&mut out, attributes);
        Self { bytes: out.into() }
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(name, value)| (name, value.to_tree()))).finish()
    }
}

/// One value in its encoded form, such as an operand of an expression.
#[derive(Clone, PartialEq, Eq)]
pub struct Value {
    bytes: Bytes,
}

impl Value {
    /// Returns a view of the value.
    pub fn view(&self) -> ValueRef<'_> {
        ValueRef::from_raw(&self.bytes)
    }

    /// Returns the type of the value.
    pub fn kind(&self) -> AttributeType {
        self.view().kind()
    }

    /// Decodes the value to its tree form.
    pub fn to_tree(&self) -> AttributeValue {
        self.view().to_tree()
    }
}

impl From<&AttributeValue> for Value {
    fn from(value: &AttributeValue) -> Self {
        let mut out = Vec::with_capacity(encoding::capacity(value));
        encoding::write_value(&mut out, value);
        Self { bytes: out.into() }
    }
}

impl From<AttributeValue> for Value {
    fn from(value: AttributeValue) -> Self {
        Self::from(&value)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_tree().fmt(f)
    }
}

fn entries_are_valid(bytes: &[u8], depth: usize) -> bool {
    let mut reader = Reader::new(bytes);
    let mut previous: Option<&[u8]> = None;
    while !reader.is_empty() {
        let Some(name) = reader.chunk() else { return false };
        let rises = previous.is_none_or(|previous| previous < name);
        if !rises || std::str::from_utf8(name).is_err() || !next_value_is_valid(&mut reader, depth) {
            return false;
        }
        previous = Some(name);
    }
    true
}

fn next_value_is_valid(reader: &mut Reader<'_>, depth: usize) -> bool {
    let Some((tag, payload)) = reader.value() else { return false };
    match encoding::kind_of_tag(tag) {
        None => false,
        Some(AttributeType::S) => std::str::from_utf8(payload).is_ok(),
        Some(AttributeType::N) => Number::from_ordered(payload).is_some(),
        Some(AttributeType::B) => true,
        Some(AttributeType::Bool) => matches!(payload, [0 | 1]),
        Some(AttributeType::Null) => payload.is_empty(),
        Some(AttributeType::M) => depth < NESTING_DEPTH_MAX && entries_are_valid(payload, depth + 1),
        Some(AttributeType::L) => depth < NESTING_DEPTH_MAX && list_is_valid(payload, depth + 1),
        Some(AttributeType::Ss) => set_is_valid(payload, |element| std::str::from_utf8(element).is_ok()),
        Some(AttributeType::Ns) => set_is_valid(payload, |element| Number::from_ordered(element).is_some()),
        Some(AttributeType::Bs) => set_is_valid(payload, |_| true),
    }
}

fn list_is_valid(bytes: &[u8], depth: usize) -> bool {
    let mut reader = Reader::new(bytes);
    while !reader.is_empty() {
        if !next_value_is_valid(&mut reader, depth) {
            return false;
        }
    }
    true
}

fn set_is_valid(bytes: &[u8], element_is_valid: impl Fn(&[u8]) -> bool) -> bool {
    let mut reader = Reader::new(bytes);
    let mut previous: Option<&[u8]> = None;
    while !reader.is_empty() {
        let Some(element) = reader.chunk() else { return false };
        if previous.is_some_and(|previous| previous >= element) || !element_is_valid(element) {
            return false;
        }
        previous = Some(element);
    }
    true
}
