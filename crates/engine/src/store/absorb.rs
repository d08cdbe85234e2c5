//! From a frozen memtable to a table file, together with small tables of level 0.
//!
//! Overwrites, idle times and closes flush memtables that are nearly empty. If each became a table of its own, a few of
//! them would start a compaction that rewrites all of level 1. The flush therefore merges the newest small tables into the
//! table it writes, so that their number stays low.
//!
//! The compaction thread may be merging the same tables. That does no harm: both results hold versions that the store
//! held, and those of level 0 are at least as new as those below.

use std::iter::Peekable;
use std::sync::Arc;

use bytes::Bytes;

use super::batch::SeqNo;
use super::error::StoreError;
use super::horizon::Horizon;
use super::levels::Levels;
use super::manifest::TableMeta;
use super::memtable::Memtable;
use super::table::{RawCursor, RawEntry, Table, TableWriter};
use super::{Files, Shared};

/// Small is what takes less than this part of a full memtable.
const SMALL_PARTS: usize = 8;

/// Small tables, and all that they hold.
#[derive(Debug, Default)]
pub(super) struct Absorbed {
    tables: Vec<Arc<Table>>,
    /// The versions of each key, newest first; keys ascending.
    pub(super) versions: Vec<Vec<RawEntry>>,
}

impl Absorbed {
    /// The numbers of the tables.
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.tables.iter().map(|table| table.meta.number).collect()
    }
}

impl Shared {
    /// The newest tables of level 0 that are small together with the memtable. None where they cannot be read: a flush does
    /// not fail for the sake of fewer tables.
    pub(super) fn absorb(&self, files: &Files, memtable: &Memtable) -> Absorbed {
        let tables = self.small_tables(files, memtable);
        match read_tables(&tables) {
            Ok(versions) => Absorbed { tables, versions },
            Err(error) => {
                tracing::warn!(%error, "cannot merge small tables into the next one; they stay as they are");
                Absorbed::default()
            }
        }
    }

    fn small_tables(&self, files: &Files, memtable: &Memtable) -> Vec<Arc<Table>> {
        let small_bytes = (files.options.memtable_bytes / SMALL_PARTS) as u64;
        let levels: Arc<Levels> = self.readers.view().levels.clone();
        let mut bytes = memtable.bytes() as u64;
        let is_small = |table: &&Arc<Table>| {
            bytes += table.meta.size;
            bytes <= small_bytes
        };
        levels.level(0).iter().take_while(is_small).cloned().collect()
    }

    /// Writes the memtable and what was absorbed as one table; `None` when nothing of it is needed.
    pub(super) fn write_memtable(
        &self,
        files: &Files,
        memtable: &Memtable,
        absorbed: Vec<Vec<RawEntry>>,
    ) -> Result<Option<TableMeta>, StoreError> {
        let retired = files.manifest.lock().retired_prefixes();
        let mut output = Output { files, horizon: self.readers.horizon(), retired, writer: None };
        let mut older = absorbed.into_iter().peekable();
        let mut versions: Vec<RawEntry> = Vec::new();
        memtable.for_each(|key, seqno, value| {
            if versions.first().is_some_and(|first| first.key != *key) {
                output.add_after_older(&mut versions, &mut older)?;
            }
            versions.push(RawEntry { key: key.clone(), seqno, value: value.cloned() });
            Ok(())
        })?;
        if !versions.is_empty() {
            output.add_after_older(&mut versions, &mut older)?;
        }
        older.try_for_each(|versions| output.add(&versions))?;
        let meta = output.writer.map(TableWriter::finish).transpose()?;
        files.sync_dir()?;
        Ok(meta)
    }
}

/// All versions in the tables, by key; of each key the newest first.
fn read_tables(tables: &[Arc<Table>]) -> Result<Vec<Vec<RawEntry>>, StoreError> {
    let mut all: Vec<RawEntry> = Vec::new();
    for table in tables {
        let mut cursor = RawCursor::open(vec![table.clone()])?;
        while let Some(entry) = cursor.take()? {
            all.push(entry);
        }
    }
    all.sort_by(|left, right| left.key.cmp(&right.key).then(right.seqno.cmp(&left.seqno)));
    Ok(all.chunk_by(|left, right| left.key == right.key).map(<[RawEntry]>::to_vec).collect())
}

/// The table being written, and what may be left out of it.
struct Output<'a> {
    files: &'a Files,
    horizon: Horizon,
    retired: Vec<Bytes>,
    writer: Option<TableWriter>,
}

impl Output<'_> {
    /// Adds the older keys that come before `versions`, then `versions` with the older ones of their key; empties it.
    fn add_after_older(
        &mut self,
        versions: &mut Vec<RawEntry>,
        older: &mut Peekable<impl Iterator<Item = Vec<RawEntry>>>,
    ) -> Result<(), StoreError> {
        let key = versions[0].key.clone();
        while let Some(before) = older.next_if(|older| older[0].key < key) {
            self.add(&before)?;
        }
        versions.extend(older.next_if(|older| older[0].key == key).into_iter().flatten());
        self.add(versions)?;
        versions.clear();
        Ok(())
    }

    /// Adds the versions of one key that somebody can still read. Deletions stay: deeper levels may hold the key.
    fn add(&mut self, versions: &[RawEntry]) -> Result<(), StoreError> {
        if self.retired.iter().any(|prefix| versions[0].key.starts_with(prefix)) {
            return Ok(());
        }
        let mut newer: Option<SeqNo> = None;
        for version in versions {
            if newer.replace(version.seqno).is_none_or(|newer| self.horizon.needs(version.seqno, newer)) {
                self.writer()?.add(&version.key, version.seqno, version.value.as_deref())?;
            }
        }
        Ok(())
    }

    fn writer(&mut self) -> Result<&mut TableWriter, StoreError> {
        let files = self.files;
        match &mut self.writer {
            Some(writer) => Ok(writer),
            empty => Ok(empty.insert(TableWriter::create(&files.tables, files.new_number(), files.table_style())?)),
        }
    }
}
