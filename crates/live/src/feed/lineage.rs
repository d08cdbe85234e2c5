//! Which shard follows which.

use std::collections::BTreeMap;

use keyform_core::operation::{SequenceNumber, Shard};

use super::{Place, Position};

/// The shards of a stream as they were described last.
#[derive(Clone, Debug, Default)]
pub struct Lineage {
    shards: BTreeMap<String, Shard>,
}

impl Lineage {
    /// The lineage of these shards.
    #[must_use]
    pub fn new(shards: Vec<Shard>) -> Self {
        Self { shards: shards.into_iter().map(|shard| (shard.id.clone(), shard)).collect() }
    }

    /// All shards.
    pub fn iter(&self) -> impl Iterator<Item = &Shard> {
        self.shards.values()
    }

    /// The shard with that id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Shard> {
        self.shards.get(id)
    }

    /// The shards that follow on one.
    pub fn children<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Shard> {
        self.shards.values().filter(move |shard| shard.parent.as_deref() == Some(id))
    }

    /// The shards without a parent that is still known.
    pub fn roots(&self) -> impl Iterator<Item = &Shard> {
        let has_parent = |shard: &&Shard| shard.parent.as_ref().is_some_and(|parent| self.shards.contains_key(parent));
        self.shards.values().filter(move |shard| !has_parent(shard))
    }

    /// The shards that can have records after a place in the store's order, without those that descend from another of them.
    pub fn after(&self, latest: SequenceNumber) -> impl Iterator<Item = &Shard> {
        let is_open = move |shard: &Shard| shard.end.is_none_or(|end| end > latest);
        let follows =
            move |shard: &Shard| shard.parent.as_ref().and_then(|parent| self.shards.get(parent)).is_some_and(is_open);
        self.shards.values().filter(move |shard| is_open(shard) && !follows(shard))
    }

    /// Whether a record of a shard comes after a position: it is behind the place in its shard, or its shard descends from one that
    /// the position names.
    #[must_use]
    pub fn is_after(&self, position: &Position, shard: &str, sequence: SequenceNumber, at_ms: u64) -> bool {
        match position.shards.get(shard) {
            Some(Place::Start) => true,
            Some(Place::After(place)) => sequence > *place,
            Some(Place::Since(millis)) => at_ms >= *millis,
            None => self.descends(shard, position),
        }
    }

    fn descends(&self, shard: &str, position: &Position) -> bool {
        let parent = |shard: &String| self.shards.get(shard).and_then(|shard| shard.parent.as_ref());
        let first = self.shards.get(shard).and_then(|shard| shard.parent.as_ref());
        // No line of ancestors is longer than all shards: a circle that a store describes must not be walked for ever.
        let mut ancestors = std::iter::successors(first, |shard| parent(shard)).take(self.shards.len());
        ancestors.any(|ancestor| position.shards.contains_key(ancestor))
    }
}
