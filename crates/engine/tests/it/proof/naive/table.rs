//! One table as a list of items, with its indexes and its stream.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use keyform_core::error::read as texts;
use keyform_core::operation::{ChangeKind, CreateTable, UserIdentity};
use keyform_core::table::{KeySchema, Projection, StreamView};
use keyform_core::value::{AttributeType, size};
use keyform_core::{AttributeValue, Attributes};

use super::Answer;
use super::condition::order;

#[derive(Clone, Debug)]
pub struct Table {
    /// Request that created the table, with its current indexes.
    pub definition: CreateTable,
    /// Items, unordered.
    pub items: Vec<Attributes>,
    /// Attribute with the expiry time.
    pub expiry: Option<String>,
    /// Global indexes that are not readable yet.
    pub filling: BTreeSet<String>,
    /// Global indexes being deleted: still written, no longer readable.
    pub leaving: BTreeSet<String>,
    /// All streams, the newest last.
    pub streams: Vec<Stream>,
}

#[derive(Clone, Debug)]
pub struct Stream {
    /// True while changes are recorded.
    pub enabled: bool,
    /// Item images in a record.
    pub view: StreamView,
    /// Creation time, which is the label.
    pub created_ms: u64,
    /// Differences of each request, in order; the differences of one sweep are unordered.
    pub groups: Vec<Vec<Difference>>,
}

impl Stream {
    pub fn new(view: StreamView, created_ms: u64) -> Self {
        Self { enabled: true, view, created_ms, groups: Vec::new() }
    }
}

/// Change of one item.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Insert, modify or remove.
    pub kind: ChangeKind,
    /// Key attributes of the item.
    pub keys: Attributes,
    /// Item before the change.
    pub old: Option<Attributes>,
    /// Item after the change.
    pub new: Option<Attributes>,
    /// Time of the change.
    pub at_ms: u64,
    /// Identity if the change was not made by a caller.
    pub identity: Option<UserIdentity>,
}

/// Table or index to read from.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name of the index; `None` for the table.
    pub index: Option<String>,
    /// True for a local index.
    pub local: bool,
    /// Key by which entries are found and sorted.
    pub key: KeySchema,
    /// Copied attributes.
    pub projection: Projection,
}

impl Table {
    pub fn new(definition: CreateTable, now_ms: u64) -> Self {
        let streams = definition.stream.map(|view| Stream::new(view, now_ms)).into_iter().collect();
        Self {
            definition,
            items: Vec::new(),
            expiry: None,
            filling: BTreeSet::new(),
            leaving: BTreeSet::new(),
            streams,
        }
    }

    /// Returns the item with the same key attributes.
    pub fn find(&self, key: &Attributes) -> Option<&Attributes> {
        self.items.iter().find(|item| self.same_key(item, key))
    }

    fn same_key(&self, one: &Attributes, other: &Attributes) -> bool {
        self.definition.key.attributes().all(|name| one.get(name) == other.get(name))
    }

    /// Returns only the key attributes.
    pub fn key_of(&self, item: &Attributes) -> Attributes {
        self.only(item, |name| self.definition.key.contains(name))
    }

    fn only(&self, item: &Attributes, keep: impl Fn(&str) -> bool) -> Attributes {
        item.iter().filter(|(name, _)| keep(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Replaces the item with that key.
    pub fn replace(&mut self, key: &Attributes, new: Option<Attributes>) {
        let kept = self.items.iter().filter(|item| !self.same_key(item, key)).cloned().collect();
        self.items = kept;
        self.items.extend(new);
    }

    /// Returns the difference that a stream records for a write, if the item changed.
    pub fn difference(
        &self,
        old: Option<&Attributes>,
        new: Option<&Attributes>,
        at_ms: u64,
        identity: Option<UserIdentity>,
    ) -> Option<Difference> {
        let kind = match (old, new) {
            (None, None) => return None,
            (None, Some(_)) => ChangeKind::Insert,
            (Some(_), None) => ChangeKind::Remove,
            (Some(old), Some(new)) if old == new => return None,
            (Some(_), Some(_)) => ChangeKind::Modify,
        };
        let keys = self.key_of(new.or(old)?);
        Some(Difference { kind, keys, old: old.cloned(), new: new.cloned(), at_ms, identity })
    }

    /// Adds the differences of one request to the stream.
    pub fn record(&mut self, group: Vec<Difference>) {
        if let Some(stream) = self.streams.last_mut().filter(|stream| stream.enabled && !group.is_empty()) {
            stream.groups.push(group);
        }
    }

    /// Returns whether the second in an item's expiry attribute has passed; times more than five years ago are ignored.
    pub fn is_expired(&self, item: &Attributes, now_ms: u64) -> bool {
        let Some(AttributeValue::N(secs)) = self.expiry.as_ref().and_then(|name| item.get(name)) else { return false };
        let now_secs = now_ms as i64 / 1000;
        let five_years_ago = now_secs - 5 * 365 * 24 * 60 * 60;
        secs.to_i64().is_some_and(|secs| secs >= five_years_ago && secs < now_secs)
    }

    /// Returns all indexes as sources, local ones first.
    pub fn indexes(&self) -> Vec<Source> {
        let local = self.definition.local_indexes.iter().map(|index| Source {
            index: Some(index.name.clone()),
            local: true,
            key: index.key.clone(),
            projection: index.projection.clone(),
        });
        let global = self.definition.global_indexes.iter().map(|index| Source {
            index: Some(index.name.clone()),
            local: false,
            key: index.key.clone(),
            projection: index.projection.clone(),
        });
        local.chain(global).collect()
    }

    /// Returns the source that a request names.
    pub fn source(&self, index: Option<&str>, consistent: bool) -> Answer<Source> {
        let Some(name) = index else {
            let key = self.definition.key.clone();
            return Ok(Source { index: None, local: false, key, projection: Projection::All });
        };
        let found = self.indexes().into_iter().find(|source| source.index.as_deref() == Some(name));
        let source = found.ok_or_else(|| texts::no_such_index(name))?;
        if consistent && !source.local {
            return Err(texts::consistent_global_index().into());
        }
        if self.filling.contains(name) || self.leaving.contains(name) {
            return Err(texts::index_is_being_made(name).into());
        }
        Ok(source)
    }

    /// Returns the entry of an item in a source, or `None` if the item lacks a key attribute.
    pub fn entry(&self, source: &Source, item: &Attributes) -> Option<Attributes> {
        let fits =
            |name: &String| item.get(name).is_some_and(|value| value.kind() == self.kind(name) && !is_empty(value));
        if !source.key.attributes().all(fits) {
            return None;
        }
        Some(match &source.projection {
            Projection::All => item.clone(),
            Projection::KeysOnly => self.only(item, |name| self.is_position(source, name)),
            Projection::Include(more) => {
                self.only(item, |name| self.is_position(source, name) || more.iter().any(|other| other == name))
            }
        })
    }

    /// Returns whether a source always contains the attribute if the item has it.
    pub fn has(&self, source: &Source, name: &str) -> bool {
        match &source.projection {
            Projection::All => true,
            Projection::KeysOnly => self.is_position(source, name),
            Projection::Include(more) => self.is_position(source, name) || more.iter().any(|other| other == name),
        }
    }

    /// Returns whether the attribute is in the key of the source or of the table.
    pub fn is_position(&self, source: &Source, name: &str) -> bool {
        source.key.contains(name) || self.definition.key.contains(name)
    }

    /// Returns all entries of a source, sorted by its sort key, then by the table's key.
    pub fn entries(&self, source: &Source) -> Vec<Attributes> {
        let mut entries: Vec<Attributes> = self.items.iter().filter_map(|item| self.entry(source, item)).collect();
        entries.sort_by(|left, right| self.compare(source, left, right));
        entries
    }

    /// Compares two entries of one partition.
    pub fn compare(&self, source: &Source, left: &Attributes, right: &Attributes) -> Ordering {
        for name in source.key.sort.iter().chain(self.definition.key.attributes()) {
            let values = left.get(name).zip(right.get(name));
            match values.and_then(|(left, right)| order(left, right)) {
                Some(Ordering::Equal) | None => {}
                Some(unequal) => return unequal,
            }
        }
        Ordering::Equal
    }

    fn kind(&self, name: &str) -> AttributeType {
        AttributeType::from(self.definition.attributes[name])
    }

    /// Returns whether a key in a request matches the table.
    pub fn check_key(&self, key: &Attributes) -> bool {
        key.len() == self.definition.key.attributes().count() && self.has_key(key)
    }

    fn has_key(&self, item: &Attributes) -> bool {
        let fits =
            |name: &String| item.get(name).is_some_and(|value| value.kind() == self.kind(name) && !is_empty(value));
        self.definition.key.attributes().all(fits)
    }

    /// Returns whether an item in a request is valid for the table and its indexes.
    pub fn check_item(&self, item: &Attributes) -> bool {
        self.has_key(item) && self.fits_indexes(item, |_| true) && size::of_attributes(item) <= 400 * 1024
    }

    /// Returns whether the given attributes are valid in the keys of the indexes.
    pub fn fits_indexes(&self, item: &Attributes, names: impl Fn(&str) -> bool) -> bool {
        let sources = self.indexes();
        let mut keys = sources.iter().flat_map(|source| source.key.attributes()).filter(|name| names(name));
        keys.all(|name| item.get(name).is_none_or(|value| value.kind() == self.kind(name) && !is_empty(value)))
    }
}

fn is_empty(value: &AttributeValue) -> bool {
    match value {
        AttributeValue::S(text) => text.is_empty(),
        AttributeValue::B(bytes) => bytes.is_empty(),
        _ => false,
    }
}
