//! Writing a frozen memtable as a table file, merged with small tables of level 0.
//!
//! Overwrites, idle periods and closing flush memtables that are nearly empty. If each became a separate table, a few
//! of them would start a compaction that rewrites all of level 1. The flush therefore merges the newest small tables
//! into the table that it writes (ADR 0028).
//!
//! The compaction thread may be merging the same tables at the same time. This is safe: both results contain only
//! versions that the store held, and those of level 0 are at least as new as those below.

use std::iter::Peekable;
use std::sync::Arc;

use bytes::Bytes;

use super::batch::SeqNo;
use super::error::StoreError;
use super::horizon::Horizon;
use super::levels::Levels;
use super::manifest::TableMeta;
use super::memtable::Memtable;
use super::sorted_table::{RawCursor, RawEntry, Table, TableWriter};
use super::{Files, Shared};

/// Tables are small if, together with the memtable, they take at most one part in this many of a full memtable.
const SMALL_PARTS: usize = 8;

/// Small tables and their content.
#[derive(Debug, Default)]
pub(super) struct Absorbed {
    tables: Vec<Arc<Table>>,
    /// Versions of each key, newest first, in ascending order of keys.
    pub(super) versions: Vec<Vec<RawEntry>>,
}

impl Absorbed {
    pub(super) fn numbers(&self) -> Vec<u64> {
        self.tables.iter().map(|table| table.meta.number).collect()
    }
}

impl Shared {
    /// Reads the newest tables of level 0 that are small together with the memtable. Returns nothing when they cannot
    /// be read, because merging them is only an optimization and must not fail the flush.
    pub(super) fn absorb(&self, files: &Files, memtable: &Memtable) -> Absorbed {
        let tables = self.small_tables(files, memtable);
        match read_tables(&tables) {
            Ok(versions) => Absorbed { tables, versions },
            Err(error) => {
                tracing::warn!(%error, "cannot merge small tables into the next one; they stay unchanged");
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

    /// Writes the memtable and the absorbed versions as one table; returns `None` when no version is needed any more.
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

/// Reads all versions in the tables, grouped by key, newest first within a key.
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

/// Table being written, with the rules for leaving versions out.
struct Output<'a> {
    files: &'a Files,
    horizon: Horizon,
    retired: Vec<Bytes>,
    writer: Option<TableWriter>,
}

impl Output<'_> {
    /// Adds the absorbed keys before `versions`, then `versions` merged with the absorbed ones of the same key. Clears
    /// it.
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

    /// Adds the versions of one key that a snapshot can still read. Keeps deletions, because deeper levels may hold the
    /// key.
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
