//! Units of migrating items to a new form. `keyform migrate plan` counts stored items with it, and rule V14 the declared
//! volume.
//!
//! ```text
//! new key    TransactWriteItems: put the new item, mark the old one, claim sentinels    twice the units of the items
//! same key   PutItem                                                                    the larger of the two forms
//! ```
//!
//! Index entries are not doubled. An index that does not contain the mark keeps the entry of the old item.

use keyform_language::plan::guarded_fields;
use keyform_language::schema::{EntityKey, Evolution, Index, Model};

use super::size;

const WRITE_STEP_BYTES: u64 = 1024;
const READ_STEP_BYTES: f64 = 4096.0;
/// Consistent scans of the old table: by the run, the verification and the removal.
pub const SCANS: f64 = 3.0;
/// Assumed bytes of a mark: its name, the new key, the time and a hash.
const MARK_BYTES: u64 = 180;

/// Sizes of an item and of the index entries that its migration writes, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigratedItem {
    /// Set if the key stays the same.
    pub in_place: bool,
    /// New item; in place, the larger of both forms.
    pub new_bytes: u64,
    /// Old item with its mark; unused in place.
    pub marked_bytes: u64,
    /// Sentinels of unique values that the new item claims.
    pub sentinels: u64,
    /// Index entries that are written or deleted.
    pub entries: Vec<u64>,
    /// Index entries of the old item, which the cut-over deletes.
    pub old_entries: Vec<u64>,
}

impl MigratedItem {
    /// Returns the write units of migrating the item.
    #[must_use]
    pub fn units(&self) -> f64 {
        let entries: f64 = self.entries.iter().copied().map(written).sum();
        if self.in_place {
            return written(self.new_bytes) + entries;
        }
        2.0 * (written(self.new_bytes) + written(self.marked_bytes) + self.sentinels as f64) + entries
    }

    /// Returns the write units of deleting the old item.
    #[must_use]
    pub fn removal_units(&self) -> f64 {
        if self.in_place {
            return 0.0;
        }
        written(self.marked_bytes) + self.old_entries.iter().copied().map(written).sum::<f64>()
    }
}

fn written(bytes: u64) -> f64 {
    bytes.div_ceil(WRITE_STEP_BYTES).max(1) as f64
}

/// Returns the read units of all scans of this many bytes.
#[must_use]
pub fn scan_units(bytes: f64) -> f64 {
    SCANS * bytes / READ_STEP_BYTES
}

/// Returns a typical item of an evolution, from the declared volume; `None` if the evolution did not resolve.
#[must_use]
pub fn typical(model: &Model, evolution: &Evolution) -> Option<MigratedItem> {
    let entity = model.entity(evolution.entity?);
    let table = entity.table?;
    let same_key = evolution.key.as_ref().is_none_or(|old| entity.key.as_ref().is_some_and(|new| is_alike(old, new)));
    let in_place = evolution.table.is_none_or(|old| old == table) && same_key;
    let (bytes, _) = size::item(model, entity);
    let of = |key: &EntityKey| key.index.map(|index| size::in_index(model, entity, model.table(table).index_at(index)));
    let old_table = model.table(evolution.table.unwrap_or(table));
    let is_marked = |key: &&EntityKey| key.index.is_some_and(|index| holds_all(old_table.index_at(index)));
    let sized = |key: &EntityKey| key.index.map(|index| size::in_index(model, entity, old_table.index_at(index)));
    let entries = if in_place {
        entity.indexes.iter().flat_map(|key| in_place_entries(evolution, key, of(key))).collect()
    } else {
        let marked = evolution.indexes.iter().filter(is_marked).filter_map(sized);
        entity.indexes.iter().filter_map(of).chain(marked).collect()
    };
    Some(MigratedItem {
        in_place,
        new_bytes: bytes,
        marked_bytes: bytes + MARK_BYTES,
        sentinels: if in_place { 0 } else { guarded_fields(entity).count() as u64 },
        entries,
        old_entries: evolution.indexes.iter().filter_map(sized).collect(),
    })
}

/// Returns the entries of one index that a rewritten item changes: it enters the index, moves in it, or stays.
fn in_place_entries(evolution: &Evolution, key: &EntityKey, bytes: Option<u64>) -> Vec<u64> {
    let before = evolution.indexes.iter().find(|old| old.index == key.index);
    let count = match before {
        None => 1,
        Some(old) if is_alike(old, key) => 1,
        Some(_) => 2,
    };
    bytes.into_iter().flat_map(|bytes| std::iter::repeat_n(bytes, count)).collect()
}

fn is_alike(old: &EntityKey, new: &EntityKey) -> bool {
    old.parts().zip(new.parts()).all(|(old, new)| old.template.parts_alike(&new.template))
}

fn holds_all(index: &Index) -> bool {
    index.projection.is_none()
}
