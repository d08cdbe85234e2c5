//! Zero-copy views into encoded values.
//!
//! A view only exists for bytes that were validated when their [`Item`](super::Item) or [`Value`](super::Value) was
//! created, so reading one cannot fail; each `expect` below states that.

use std::cmp::Ordering;

use super::encoding::{self, Reader};
use super::{AttributeType, AttributeValue, Attributes, Number};

const CHECKED: &str = "encoded values are checked when they are made";

/// View of a value in encoded bytes.
#[derive(Clone, Copy, Debug)]
pub enum ValueRef<'a> {
    /// A string.
    S(&'a str),
    /// A number.
    N(Number),
    /// Binary data.
    B(&'a [u8]),
    /// A boolean.
    Bool(bool),
    /// NULL.
    Null,
    /// A map.
    M(MapRef<'a>),
    /// A list.
    L(ListRef<'a>),
    /// A string set.
    Ss(SetRef<'a>),
    /// A number set.
    Ns(SetRef<'a>),
    /// A binary set.
    Bs(SetRef<'a>),
}

impl<'a> ValueRef<'a> {
    pub(crate) fn from_parts(tag: u8, payload: &'a [u8]) -> Self {
        match encoding::kind_of_tag(tag).expect(CHECKED) {
            AttributeType::S => Self::S(text(payload)),
            AttributeType::N => Self::N(number(payload)),
            AttributeType::B => Self::B(payload),
            AttributeType::Bool => Self::Bool(payload == [1]),
            AttributeType::Null => Self::Null,
            AttributeType::M => Self::M(MapRef { entries: payload }),
            AttributeType::L => Self::L(ListRef { values: payload }),
            AttributeType::Ss => Self::Ss(SetRef { kind: AttributeType::Ss, elements: payload }),
            AttributeType::Ns => Self::Ns(SetRef { kind: AttributeType::Ns, elements: payload }),
            AttributeType::Bs => Self::Bs(SetRef { kind: AttributeType::Bs, elements: payload }),
        }
    }

    /// Returns the view of validated bytes.
    pub(crate) fn from_raw(raw: &'a [u8]) -> Self {
        let (tag, payload) = Reader::new(raw).value().expect(CHECKED);
        Self::from_parts(tag, payload)
    }

    /// Returns the type of the value.
    pub fn kind(&self) -> AttributeType {
        match self {
            Self::S(_) => AttributeType::S,
            Self::N(_) => AttributeType::N,
            Self::B(_) => AttributeType::B,
            Self::Bool(_) => AttributeType::Bool,
            Self::Null => AttributeType::Null,
            Self::M(_) => AttributeType::M,
            Self::L(_) => AttributeType::L,
            Self::Ss(_) => AttributeType::Ss,
            Self::Ns(_) => AttributeType::Ns,
            Self::Bs(_) => AttributeType::Bs,
        }
    }

    /// Compares two strings, two numbers or two binaries; returns `None` for other types, which have no order.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::S(a), Self::S(b)) => Some(a.cmp(b)),
            (Self::N(a), Self::N(b)) => Some(a.cmp(b)),
            (Self::B(a), Self::B(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }

    /// Decodes the value to its tree form.
    pub fn to_tree(&self) -> AttributeValue {
        match self {
            Self::S(text) => AttributeValue::S((*text).to_owned()),
            Self::N(number) => AttributeValue::N(*number),
            Self::B(bytes) => AttributeValue::B(bytes.to_vec()),
            Self::Bool(value) => AttributeValue::Bool(*value),
            Self::Null => AttributeValue::Null,
            Self::M(map) => AttributeValue::M(map.to_tree()),
            Self::L(list) => AttributeValue::L(list.iter().map(|value| value.to_tree()).collect()),
            Self::Ss(set) => AttributeValue::Ss(set.iter().map(|element| text(element).to_owned()).collect()),
            Self::Ns(set) => AttributeValue::Ns(set.iter().map(number).collect()),
            Self::Bs(set) => AttributeValue::Bs(set.iter().map(<[u8]>::to_vec).collect()),
        }
    }
}

impl PartialEq for ValueRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::S(a), Self::S(b)) => a == b,
            (Self::N(a), Self::N(b)) => a == b,
            (Self::B(a), Self::B(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Null, Self::Null) => true,
            (Self::M(a), Self::M(b)) => a.entries == b.entries,
            (Self::L(a), Self::L(b)) => a.values == b.values,
            (Self::Ss(a), Self::Ss(b)) | (Self::Ns(a), Self::Ns(b)) | (Self::Bs(a), Self::Bs(b)) => {
                a.elements == b.elements
            }
            _ => false,
        }
    }
}

/// View of a map in encoded bytes.
#[derive(Clone, Copy, Debug)]
pub struct MapRef<'a> {
    entries: &'a [u8],
}

impl<'a> MapRef<'a> {
    pub(crate) fn new(entries: &'a [u8]) -> Self {
        Self { entries }
    }

    /// Returns the value with this name. Takes linear time in the size of the map.
    pub fn get(&self, name: &str) -> Option<ValueRef<'a>> {
        let mut reader = Reader::new(self.entries);
        while !reader.is_empty() {
            let entry = reader.chunk().expect(CHECKED);
            let (tag, payload) = reader.value().expect(CHECKED);
            match entry.cmp(name.as_bytes()) {
                Ordering::Less => {}
                Ordering::Equal => return Some(ValueRef::from_parts(tag, payload)),
                Ordering::Greater => return None,
            }
        }
        None
    }

    /// Returns the encoded bytes of the value with this name.
    pub(crate) fn get_raw(&self, name: &str) -> Option<&'a [u8]> {
        let mut reader = Reader::new(self.entries);
        while !reader.is_empty() {
            let entry = reader.chunk().expect(CHECKED);
            let value = reader.raw_value().expect(CHECKED);
            match entry.cmp(name.as_bytes()) {
                Ordering::Less => {}
                Ordering::Equal => return Some(value),
                Ordering::Greater => return None,
            }
        }
        None
    }

    /// Returns the entries in name order.
    pub fn iter(&self) -> Entries<'a> {
        Entries { reader: Reader::new(self.entries) }
    }

    /// Returns the entries with these names, each with the index of its name. `names` must be sorted. One pass over
    /// the map suffices, because its entries are sorted too; the values of other entries are skipped.
    pub fn select<'n>(&self, names: &'n [String]) -> impl Iterator<Item = (usize, ValueRef<'a>)> + use<'a, 'n> {
        let mut reader = Reader::new(self.entries);
        let mut names = names.iter().enumerate().peekable();
        std::iter::from_fn(move || {
            while names.peek().is_some() && !reader.is_empty() {
                let entry = reader.chunk().expect(CHECKED);
                let (tag, payload) = reader.value().expect(CHECKED);
                while names.next_if(|(_, name)| name.as_bytes() < entry).is_some() {}
                if let Some((place, _)) = names.next_if(|(_, name)| name.as_bytes() == entry) {
                    return Some((place, ValueRef::from_parts(tag, payload)));
                }
            }
            None
        })
    }

    /// Returns the number of entries, in linear time.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Returns whether the map has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Decodes the map to its tree form.
    pub fn to_tree(&self) -> Attributes {
        self.iter().map(|(name, value)| (name.to_owned(), value.to_tree())).collect()
    }
}

/// Iterator over the entries of a map in name order.
#[derive(Clone)]
pub struct Entries<'a> {
    reader: Reader<'a>,
}

impl<'a> Entries<'a> {
    /// Returns the next entry with its value still encoded.
    pub(crate) fn next_raw(&mut self) -> Option<(&'a str, &'a [u8])> {
        if self.reader.is_empty() {
            return None;
        }
        let name = text(self.reader.chunk().expect(CHECKED));
        Some((name, self.reader.raw_value().expect(CHECKED)))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a str, ValueRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_empty() {
            return None;
        }
        let name = text(self.reader.chunk().expect(CHECKED));
        let (tag, payload) = self.reader.value().expect(CHECKED);
        Some((name, ValueRef::from_parts(tag, payload)))
    }
}

/// View of a list in encoded bytes.
#[derive(Clone, Copy, Debug)]
pub struct ListRef<'a> {
    values: &'a [u8],
}

impl<'a> ListRef<'a> {
    /// Returns the value at this index, in linear time.
    pub fn get(&self, index: usize) -> Option<ValueRef<'a>> {
        self.iter().nth(index)
    }

    /// Returns the encoded bytes of the value at this index.
    pub(crate) fn get_raw(&self, index: usize) -> Option<&'a [u8]> {
        let mut reader = Reader::new(self.values);
        for _ in 0..index {
            if reader.is_empty() {
                return None;
            }
            reader.value().expect(CHECKED);
        }
        if reader.is_empty() { None } else { reader.raw_value() }
    }

    /// Returns the number of values, in linear time.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Returns whether the list has no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the values in order.
    pub fn iter(&self) -> impl Iterator<Item = ValueRef<'a>> + use<'a> {
        let mut reader = Reader::new(self.values);
        std::iter::from_fn(move || {
            if reader.is_empty() {
                return None;
            }
            let (tag, payload) = reader.value().expect(CHECKED);
            Some(ValueRef::from_parts(tag, payload))
        })
    }
}

/// View of a set in encoded bytes. Its elements are strings, ordered numbers or binaries.
#[derive(Clone, Copy, Debug)]
pub struct SetRef<'a> {
    kind: AttributeType,
    elements: &'a [u8],
}

impl<'a> SetRef<'a> {
    /// Returns the number of elements, in linear time.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Returns whether the set has no elements.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Returns the encoded bytes of the elements, in order.
    pub fn iter(&self) -> Elements<'a> {
        Elements { reader: Reader::new(self.elements) }
    }

    /// Returns the elements as values, in order.
    pub fn values(&self) -> impl Iterator<Item = ValueRef<'a>> + use<'a> {
        let kind = self.kind;
        self.iter().map(move |element| match kind {
            AttributeType::Ss => ValueRef::S(text(element)),
            AttributeType::Ns => ValueRef::N(number(element)),
            _ => ValueRef::B(element),
        })
    }

    /// Returns whether the value is an element of the set.
    pub fn contains(&self, value: &ValueRef<'_>) -> bool {
        self.values().any(|element| element == *value)
    }
}

/// Iterator over the encoded elements of a set.
#[derive(Clone)]
pub struct Elements<'a> {
    reader: Reader<'a>,
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.reader.is_empty() { None } else { Some(self.reader.chunk().expect(CHECKED)) }
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect(CHECKED)
}

fn number(bytes: &[u8]) -> Number {
    Number::from_ordered(bytes).expect(CHECKED)
}
