//! One table as a list of items, with what its indexes and its stream would show.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use keyform_core::error::read as texts;
use keyform_core::operation::{ChangeKind, CreateTable, UserIdentity};
use keyform_core::table::{KeySchema, Projection, StreamView};
use keyform_core::value::{AttributeType, size};
use keyform_core::{AttributeValue, Attributes};

use super::Answer;
use super::condition::order;

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// How it was made, with the indexes it has now.
    pub definition: CreateTable,
    /// Its items in no order.
    pub items: Vec<Attributes>,
    /// The attribute that tells when an item expires.
    pub expiry: Option<String>,
    /// The global indexes that cannot be read yet.
    pub filling: BTreeSet<String>,
    /// The global indexes that are being removed: still written, no longer read.
    pub leaving: BTreeSet<String>,
    /// All its streams, the newest last.
    pub streams: Vec<Stream>,
}

/// A stream of changes.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Whether changes are being written down.
    pub enabled: bool,
    /// What a record shows.
    pub view: StreamView,
    /// When it began.
    pub created_ms: u64,
    /// The differences of each request, in order; those of one sweep have no order among themselves.
    pub groups: Vec<Vec<Difference>>,
}

impl Stream {
    /// A stream without changes.
    pub fn new(view: StreamView, created_ms: u64) -> Self {
        Self { enabled: true, view, created_ms, groups: Vec::new() }
    }
}

/// One item before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What happened.
    pub kind: ChangeKind,
    /// Its key.
    pub keys: Attributes,
    /// Before.
    pub old: Option<Attributes>,
    /// After.
    pub new: Option<Attributes>,
    /// When.
    pub at_ms: u64,
    /// Who, if not a caller.
    pub identity: Option<UserIdentity>,
}

/// A table or an index, as something to read from.
#[derive(Clone, Debug)]
pub struct Source {
    /// The index's name.
    pub index: Option<String>,
    /// Whether it is a local index.
    pub local: bool,
    /// The key by which entries are found and sorted.
    pub key: KeySchema,
    /// What it copies.
    pub projection: Projection,
}

impl Table {
    /// An empty table.
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

    /// The item with the key attributes of another.
    pub fn find(&self, key: &Attributes) -> Option<&Attributes> {
        self.items.iter().find(|item| self.same_key(item, key))
    }

    fn same_key(&self, one: &Attributes, other: &Attributes) -> bool {
        self.definition.key.attributes().all(|name| one.get(name) == other.get(name))
    }

    /// The key attributes alone.
    pub fn key_of(&self, item: &Attributes) -> Attributes {
        self.only(item, |name| self.definition.key.contains(name))
    }

    fn only(&self, item: &Attributes, keep: impl Fn(&str) -> bool) -> Attributes {
        item.iter().filter(|(name, _)| keep(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Puts the new item in the place of the old one.
    pub fn replace(&mut self, key: &Attributes, new: Option<Attributes>) {
        let kept = self.items.iter().filter(|item| !self.same_key(item, key)).cloned().collect();
        self.items = kept;
        self.items.extend(new);
    }

    /// What a stream writes down of a write, if the item changed.
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

    /// Writes the differences of one request into the stream.
    pub fn record(&mut self, group: Vec<Difference>) {
        if let Some(stream) = self.streams.last_mut().filter(|stream| stream.enabled && !group.is_empty()) {
            stream.groups.push(group);
        }
    }

    /// Whether the second that an item names is over; a time more than five years ago is taken for a mistake.
    pub fn is_expired(&self, item: &Attributes, now_ms: u64) -> bool {
        let Some(AttributeValue::N(secs)) = self.expiry.as_ref().and_then(|name| item.get(name)) else { return false };
        let now_secs = now_ms as i64 / 1000;
        let five_years_ago = now_secs - 5 * 365 * 24 * 60 * 60;
        secs.to_i64().is_some_and(|secs| secs >= five_years_ago && secs < now_secs)
    }

    /// All indexes as sources, local ones first.
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

    /// The source that a request names.
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

    /// What a source has of an item; nothing if the item lacks a key attribute.
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

    /// Whether a source surely has the attribute of every item that has it.
    pub fn has(&self, source: &Source, name: &str) -> bool {
        match &source.projection {
            Projection::All => true,
            Projection::KeysOnly => self.is_position(source, name),
            Projection::Include(more) => self.is_position(source, name) || more.iter().any(|other| other == name),
        }
    }

    /// Whether the attribute is of the source's key or the table's.
    pub fn is_position(&self, source: &Source, name: &str) -> bool {
        source.key.contains(name) || self.definition.key.contains(name)
    }

    /// All entries of a source, sorted by its sort key, then by the table's key.
    pub fn entries(&self, source: &Source) -> Vec<Attributes> {
        let mut entries: Vec<Attributes> = self.items.iter().filter_map(|item| self.entry(source, item)).collect();
        entries.sort_by(|left, right| self.compare(source, left, right));
        entries
    }

    /// Which of two entries of one partition comes first.
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

    /// Whether a key that a request gives fits the table.
    pub fn check_key(&self, key: &Attributes) -> bool {
        key.len() == self.definition.key.attributes().count() && self.has_key(key)
    }

    fn has_key(&self, item: &Attributes) -> bool {
        let fits =
            |name: &String| item.get(name).is_some_and(|value| value.kind() == self.kind(name) && !is_empty(value));
        self.definition.key.attributes().all(fits)
    }

    /// Whether an item that a request brings fits the table and its indexes.
    pub fn check_item(&self, item: &Attributes) -> bool {
        self.has_key(item) && self.fits_indexes(item, |_| true) && size::of_attributes(item) <= 400 * 1024
    }

    /// Whether every one of these attributes that an index has in its key may stand there.
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
