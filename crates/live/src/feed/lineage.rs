//! Parent and child relations between shards.

use std::collections::BTreeMap;

use keyform_core::operation::{SequenceNumber, Shard};

use super::{Position, ShardOffset};

/// Shards of a stream, as last described.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lineage {
    shards: BTreeMap<String, Shard>,
}

impl Lineage {
    /// Builds the lineage of these shards.
    #[must_use]
    pub(crate) fn new(shards: Vec<Shard>) -> Self {
        Self { shards: shards.into_iter().map(|shard| (shard.id.clone(), shard)).collect() }
    }

    /// Iterates over all shards.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Shard> {
        self.shards.values()
    }

    /// Returns the shard with that id.
    #[must_use]
    pub(crate) fn get(&self, id: &str) -> Option<&Shard> {
        self.shards.get(id)
    }

    /// Iterates over the children of a shard.
    pub(crate) fn children<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Shard> {
        self.shards.values().filter(move |shard| shard.parent.as_deref() == Some(id))
    }

    /// Iterates over the shards whose parent is unknown or trimmed.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Shard> {
        let has_parent = |shard: &&Shard| shard.parent.as_ref().is_some_and(|parent| self.shards.contains_key(parent));
        self.shards.values().filter(move |shard| !has_parent(shard))
    }

    /// Iterates over the shards that can have records after a sequence number, without those that descend from another
    /// of them.
    pub(crate) fn after(&self, latest: SequenceNumber) -> impl Iterator<Item = &Shard> {
        let is_open = move |shard: &Shard| shard.end.is_none_or(|end| end > latest);
        let follows =
            move |shard: &Shard| shard.parent.as_ref().and_then(|parent| self.shards.get(parent)).is_some_and(is_open);
        self.shards.values().filter(move |shard| is_open(shard) && !follows(shard))
    }

    /// Returns whether a record comes after a position: it is behind the position in its shard, or its shard descends
    /// from one that the position names.
    #[must_use]
    pub(crate) fn is_after(&self, position: &Position, shard: &str, sequence: SequenceNumber, at_ms: u64) -> bool {
        match position.shards.get(shard) {
            Some(ShardOffset::Start) => true,
            Some(ShardOffset::After(place)) => sequence > *place,
            Some(ShardOffset::Since(millis)) => at_ms >= *millis,
            None => self.descends(shard, position),
        }
    }

    fn descends(&self, shard: &str, position: &Position) -> bool {
        let parent = |shard: &String| self.shards.get(shard).and_then(|shard| shard.parent.as_ref());
        let first = self.shards.get(shard).and_then(|shard| shard.parent.as_ref());
        // A line of ancestors is never longer than the number of shards. The limit ends a cycle in a faulty
        // description.
        let mut ancestors = std::iter::successors(first, |shard| parent(shard)).take(self.shards.len());
        ancestors.any(|ancestor| position.shards.contains_key(ancestor))
    }
}
