//! One page of a Query or Scan: the entries of a range after the start key, up to a limit, 1 MB or the end.

use std::ops::Bound;

use keyform_core::capacity::{CapacityDetail, ConsumedCapacity, ReadKind, ReturnConsumedCapacity, read_units};
use keyform_core::expression::{Condition, Projection};
use keyform_core::limits::PAGE_BYTES_MAX;
use keyform_core::operation::PageOutput;
use keyform_core::{Error, Item};

use super::bounds::KeyRange;
use super::get::decoded;
use super::source::{Attributes, Source};
use super::start;
use crate::engine::store_failed;
use crate::item_key;
use crate::store::Snapshot;

/// Parameters of a page.
pub struct PageRequest<'a> {
    pub source: &'a Source,
    pub range: KeyRange,
    /// Store key of the last entry of the previous page.
    pub after: Option<Vec<u8>>,
    pub reverse: bool,
    pub limit: usize,
    pub filter: Option<&'a Condition>,
    pub projection: Option<&'a Projection>,
    pub attributes: Attributes,
    pub kind: ReadKind,
    pub return_capacity: ReturnConsumedCapacity,
}

/// Entries read so far.
#[derive(Default)]
struct Progress {
    items: Vec<Item>,
    count: usize,
    scanned: usize,
    bytes: usize,
    fetched_units: f64,
    last: Option<Item>,
}

impl PageRequest<'_> {
    pub fn read(&self, snapshot: &Snapshot) -> Result<PageOutput, Error> {
        self.check_paths()?;
        let mut progress = Progress::default();
        let mut ended = true;
        for entry in self.entries(snapshot) {
            let (_, bytes) = entry.map_err(|error| store_failed(&error))?;
            let entry = decoded(bytes)?;
            let size = entry.size();
            if progress.scanned > 0 && progress.bytes + size > PAGE_BYTES_MAX {
                ended = false;
                break;
            }
            self.take(snapshot, &mut progress, entry, size)?;
            if progress.scanned == self.limit {
                ended = false;
                break;
            }
        }
        Ok(self.output(progress, ended))
    }

    /// Checks that neither filter nor projection reaches into a key attribute.
    fn check_paths(&self) -> Result<(), Error> {
        let table = &self.source.table;
        item_key::check_scalar_keys(table, self.filter.map_or_else(Vec::new, Condition::paths))?;
        super::get::check_projection(table, self.projection)
    }

    fn entries(&self, snapshot: &Snapshot) -> crate::store::Range {
        let upper = self.range.upper.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let lower = Bound::Included(self.range.lower.as_slice());
        match (&self.after, self.reverse) {
            (None, false) => snapshot.range(lower, upper),
            (None, true) => snapshot.range_rev(lower, upper),
            (Some(after), false) => snapshot.range(Bound::Excluded(after), upper),
            (Some(after), true) => snapshot.range_rev(lower, Bound::Excluded(after)),
        }
    }

    fn take(&self, snapshot: &Snapshot, progress: &mut Progress, entry: Item, size: usize) -> Result<(), Error> {
        progress.scanned += 1;
        progress.bytes += size;
        progress.last = Some(entry.clone());
        let item = match self.attributes {
            Attributes::OfItem => self.fetch(snapshot, progress, &entry)?,
            Attributes::OfSource | Attributes::None => entry,
        };
        if self.filter.is_some_and(|filter| !filter.holds(Some(&item))) {
            return Ok(());
        }
        progress.count += 1;
        if self.attributes != Attributes::None {
            progress.items.push(match self.projection {
                Some(projection) => projection.apply(&item),
                None => item,
            });
        }
        Ok(())
    }

    /// Fetches the whole item of an entry of a local index, which counts as a separate read.
    fn fetch(&self, snapshot: &Snapshot, progress: &mut Progress, entry: &Item) -> Result<Item, Error> {
        let table = &self.source.table;
        let place = item_key::of_stored_item(table, entry);
        let bytes = snapshot.get(&place).map_err(|error| store_failed(&error))?;
        let item = bytes.map(decoded).transpose()?.unwrap_or_else(|| entry.clone());
        progress.fetched_units += read_units(item.size(), self.kind);
        Ok(item)
    }

    fn output(&self, progress: Progress, ended: bool) -> PageOutput {
        let last = progress.last.as_ref().filter(|_| !ended);
        PageOutput {
            capacity: self.capacity(&progress),
            count: progress.count,
            scanned: progress.scanned,
            last_key: last.map(|entry| start::of_entry(self.source, entry)),
            items: (self.attributes != Attributes::None).then_some(progress.items),
        }
    }

    fn capacity(&self, progress: &Progress) -> Option<ConsumedCapacity> {
        let units = read_units(progress.bytes, self.kind);
        let detail = match self.return_capacity {
            ReturnConsumedCapacity::None => return None,
            ReturnConsumedCapacity::Total => None,
            ReturnConsumedCapacity::Indexes => Some(self.detail(units, progress.fetched_units)),
        };
        let total = units + progress.fetched_units;
        Some(ConsumedCapacity { table: self.source.table.name.clone(), total, read: None, write: None, detail })
    }

    fn detail(&self, units: f64, fetched_units: f64) -> CapacityDetail {
        let Some(index) = self.source.index() else { return CapacityDetail { table: units, ..Default::default() } };
        let part = [(index.name.clone(), units)].into();
        if index.is_local() {
            CapacityDetail { table: fetched_units, local: part, ..Default::default() }
        } else {
            CapacityDetail { global: part, ..Default::default() }
        }
    }
}
