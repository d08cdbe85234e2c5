//! Compaction: merges tables of one level into the next, so that a read searches few tables, and drops overwritten and
//! deleted data.
//!
//! Jobs are picked in this order (see `weight`):
//! 1. the level with most dead data, when dead data takes too much space; otherwise the level that exceeds its size by
//!    the largest factor. Level 0 moves its oldest tables down, a deeper level the table with the least overlap below;
//! 2. a table of mostly deletions that has data below it;
//! 3. a table with keys of a retired prefix, which is rewritten in its level.
//!
//! A version is dropped when no snapshot can read it. A deletion is dropped when no deeper level can hold its key.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::batch::SeqNo;
use super::error::StoreError;
use super::flush::drop_unnamed;
use super::horizon::Horizon;
use super::levels::{Levels, is_within_prefix, touches_prefix};
use super::manifest::{Manifest, TableMeta};
use super::memtable::{Span, prefix_end};
use super::obstacle::Task;
use super::sorted_table::{LevelCursor, RawCursor, RawEntry, Run, Table, TableWriter};
use super::{Files, Shared};

/// Maximum number of level 0 tables in one job.
const LEVEL0_TABLES_MAX: usize = 8;

/// Tables to merge, as sorted runs, newest first, and the level of the result.
#[derive(Debug)]
struct Job {
    runs: Vec<Vec<Arc<Table>>>,
    output: usize,
}

impl Job {
    fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.runs.iter().flatten()
    }

    /// Records how much of the upper levels' data the merge removed. The last run is the level that was merged into.
    fn note_dead(&self, files: &Files, added: &[Arc<Table>]) {
        let Some((_, upper)) = self.runs.split_last() else { return };
        let bytes =
            |tables: &mut dyn Iterator<Item = &Arc<Table>>| -> u64 { tables.map(|table| table.meta.size).sum() };
        let removed = bytes(&mut self.tables()).saturating_sub(bytes(&mut added.iter()));
        files.dead_share.note(bytes(&mut upper.iter().flatten()), removed);
    }
}

impl Shared {
    /// Body of the compaction thread: runs jobs until the store closes or a write fails.
    pub(super) fn compact_loop(&self, files: &Files) {
        let due =
            |work: &mut super::background::Work| (work.wanted != work.compacted).then_some((work.wanted, work.full));
        while let Some((wanted, full)) = files.background.wait_for(due) {
            match self.compact_while_due(files, full) {
                Ok(()) => {
                    self.pass_obstacle(files, Task::Compaction);
                    files.update_work(|work| {
                        work.compacted = wanted;
                        work.full &= work.wanted != wanted;
                    });
                }
                // A job that ends early has changed nothing. A damaged table fails its own reads, not all writes:
                // compaction waits, and writers are rejected only when level 0 is so full that they would have to wait
                // (ADR 0029).
                Err(error) if error.is_scarcity() || error.is_damage() => {
                    self.meet_obstacle(files, Task::Compaction, &error);
                }
                Err(error) => return self.stop(&error),
            }
        }
    }

    fn compact_while_due(&self, files: &Files, full: bool) -> Result<(), StoreError> {
        if full && let Some(job) = everything(&self.readers.view().levels) {
            self.run(files, &job)?;
        }
        while !files.background.is_closing() {
            match self.pick(files)? {
                Some(job) => self.run(files, &job)?,
                None => return self.forget_retired(files),
            }
        }
        Ok(())
    }

    fn pick(&self, files: &Files) -> Result<Option<Job>, StoreError> {
        let view = self.readers.view();
        let levels = &view.levels;
        if let Some(depth) = files.weight(levels).most_crowded() {
            let entry_bytes = files.weight(levels).entry_bytes_below(depth);
            return Ok(if depth == 0 { Some(level0_job(levels)) } else { level_job(levels, depth, entry_bytes) });
        }
        if let Some(depth) = (0..levels.depth()).find(|depth| is_mostly_deletions(levels, *depth)) {
            return Ok(if depth == 0 { Some(level0_job(levels)) } else { deletions_job(levels, depth) });
        }
        for prefix in &view.retired {
            if let Some(job) = retired_job(levels, prefix)? {
                return Ok(Some(job));
            }
        }
        Ok(None)
    }

    fn run(&self, files: &Files, job: &Job) -> Result<(), StoreError> {
        let moved = is_move(job, &self.readers.view().retired, files.tables.vault.current_key_id());
        let added = if moved { Some(job.tables().cloned().collect()) } else { self.merge(files, job)? };
        let Some(added) = added else { return Ok(()) };
        if !moved {
            job.note_dead(files, &added);
        }
        let gone: Vec<u64> = job.tables().map(|table| table.meta.number).collect();
        // A flush or a retired prefix may have removed a table in the meantime. Its file is deleted, so a move must not
        // bring it back.
        let replace = |levels: &Levels| match moved && !levels.hold_all(&gone) {
            true => levels.replace(&[], 0, Vec::new()),
            false => levels.replace(&gone, job.output, added.clone()),
        };
        let installed = self.install(files, replace, |_| {}, None);
        installed.inspect_err(|error| {
            if !moved {
                drop_unnamed(error, &added);
            }
        })?;
        self.counters.compactions.fetch_add(1, Ordering::Relaxed);
        files.update_work(|_| {});
        Ok(())
    }

    /// Merges the job's tables into new ones; returns `None` when the store is closing.
    fn merge(&self, files: &Files, job: &Job) -> Result<Option<Vec<Arc<Table>>>, StoreError> {
        let mut output = Output { files, writer: None, metas: Vec::new() };
        let view = self.readers.view();
        let rules = Rules {
            horizon: self.readers.horizon(),
            retired: view.retired.clone(),
            levels: view.levels.clone(),
            output: job.output,
        };
        let mut sources = job.runs.iter().map(|run| RawCursor::open(run.clone())).collect::<Result<Vec<_>, _>>()?;
        let mut versions = Vec::new();
        while next_key(&mut sources, &mut versions)? {
            if files.background.is_closing() {
                return Ok(None);
            }
            rules.prune(&mut versions);
            output.add(&versions)?;
        }
        let metas = output.finish()?;
        files.sync_dir()?;
        let table = |meta| Arc::new(Table::new(Arc::new(meta), files.tables.clone()));
        Ok(Some(metas.into_iter().map(table).collect()))
    }

    /// Removes retired prefixes from the manifest when no file can hold such keys any more.
    fn forget_retired(&self, files: &Files) -> Result<(), StoreError> {
        // Read the manifest before the view: segments that it no longer needs are tables by then, so the view has all
        // keys.
        let passed: Vec<Bytes> = {
            let manifest = files.manifest.lock();
            let passed = manifest.retired.iter().filter(|retired| retired.segment < manifest.first_segment);
            passed.map(|retired| retired.prefix.clone()).collect()
        };
        let view = self.readers.view();
        let mut gone = Vec::new();
        for prefix in passed {
            if retired_job(&view.levels, &prefix)?.is_none() {
                gone.push(prefix);
            }
        }
        if gone.is_empty() {
            return Ok(());
        }
        let forget = |manifest: &mut Manifest| manifest.retired.retain(|retired| !gone.contains(&retired.prefix));
        self.install(files, |levels| levels.replace(&[], 0, Vec::new()), forget, None)
    }
}

fn everything(levels: &Levels) -> Option<Job> {
    let mut runs: Vec<Vec<Arc<Table>>> = levels.level(0).iter().map(|table| vec![table.clone()]).collect();
    runs.extend((1..levels.depth()).map(|depth| levels.level(depth).to_vec()));
    runs.retain(|run| !run.is_empty());
    (!runs.is_empty()).then(|| Job { runs, output: levels.depth().saturating_sub(1).max(1) })
}

/// Picks the oldest tables of level 0, but not all, so that a job after a burst of writes has a bounded duration.
fn level0_job(levels: &Levels) -> Job {
    let all = levels.level(0);
    let newest_first = &all[all.len().saturating_sub(LEVEL0_TABLES_MAX)..];
    let mut runs: Vec<Vec<Arc<Table>>> = newest_first.iter().map(|table| vec![table.clone()]).collect();
    let smallest = newest_first.iter().map(|table| &table.meta.smallest).min();
    let largest = newest_first.iter().map(|table| &table.meta.largest).max();
    if let (Some(smallest), Some(largest)) = (smallest, largest) {
        runs.push(levels.overlapping(1, smallest, largest));
    }
    Job { runs, output: 1 }
}

/// Picks the table of a level with the least data to rewrite below, relative to its own size and what it deletes.
fn level_job(levels: &Levels, depth: usize, entry_bytes_below: u64) -> Option<Job> {
    let below = |table: &Arc<Table>| levels.overlapping(depth + 1, &table.meta.smallest, &table.meta.largest);
    let cost = |table: &&Arc<Table>| {
        let bytes: u64 = below(table).iter().map(|other| other.meta.size).sum();
        let deleted = table.meta.tombstones.saturating_mul(entry_bytes_below);
        bytes * 1000 / table.meta.size.saturating_add(deleted).max(1)
    };
    let table = levels.level(depth).iter().min_by_key(cost)?;
    Some(Job { runs: vec![vec![table.clone()], below(table)], output: depth + 1 })
}

/// Returns whether more than half of a table's entries are deletions and a deeper level has data they may delete.
fn is_mostly_deletions(levels: &Levels, depth: usize) -> bool {
    let below = (depth + 1..levels.depth()).any(|deeper| !levels.level(deeper).is_empty());
    below && levels.level(depth).iter().any(has_mostly_deletions)
}

fn has_mostly_deletions(table: &Arc<Table>) -> bool {
    table.meta.tombstones * 2 > table.meta.entries
}

/// Moves a table of deletions towards the data they delete, so that range reads do not have to skip both.
fn deletions_job(levels: &Levels, depth: usize) -> Option<Job> {
    let table = levels.level(depth).iter().find(|table| has_mostly_deletions(table))?;
    let below = levels.overlapping(depth + 1, &table.meta.smallest, &table.meta.largest);
    Some(Job { runs: vec![vec![table.clone()], below], output: depth + 1 })
}

/// Rewrites a table that holds keys of a retired prefix.
fn retired_job(levels: &Levels, prefix: &Bytes) -> Result<Option<Job>, StoreError> {
    for depth in 0..levels.depth() {
        for table in levels.level(depth) {
            if touches_prefix(&table.meta, prefix) && holds_prefix(table, prefix)? {
                let job = Job { runs: vec![vec![table.clone()]], output: depth };
                return Ok(Some(if depth == 0 { level0_job(levels) } else { job }));
            }
        }
    }
    Ok(None)
}

fn holds_prefix(table: &Arc<Table>, prefix: &Bytes) -> Result<bool, StoreError> {
    use std::ops::Bound;
    let upper = prefix_end(prefix).map_or(Bound::Unbounded, Bound::Excluded);
    let span = Span { lower: Bound::Included(prefix.clone()), upper, reverse: false };
    let cursor = LevelCursor::open(&Run::from([table.clone()]), &span, SeqNo::MAX)?;
    Ok(cursor.is_some_and(|cursor| cursor.key().is_some()))
}

/// Returns whether a single table can move down a level unchanged. A table under an older data key is rewritten
/// instead.
fn is_move(job: &Job, retired: &[Bytes], key_id: u32) -> bool {
    let mut tables = job.tables();
    match (tables.next(), tables.next()) {
        (Some(only), None) => {
            let touched = retired.iter().any(|prefix| touches_prefix(&only.meta, prefix));
            only.meta.tombstones == 0 && only.meta.key_id == key_id && !touched
        }
        _ => false,
    }
}

/// Takes all versions of the next key from all sources, newest first.
fn next_key(sources: &mut [RawCursor], versions: &mut Vec<RawEntry>) -> Result<bool, StoreError> {
    versions.clear();
    let smallest = sources.iter().filter_map(|source| source.current().map(|entry| &entry.key)).min();
    let Some(key) = smallest.cloned() else { return Ok(false) };
    for source in sources {
        while source.current().is_some_and(|entry| entry.key == key) {
            versions.extend(source.take()?);
        }
    }
    Ok(true)
}

/// Rules for dropping versions from the result of a job.
struct Rules {
    horizon: Horizon,
    retired: Vec<Bytes>,
    levels: Arc<Levels>,
    output: usize,
}

impl Rules {
    fn prune(&self, versions: &mut Vec<RawEntry>) {
        let Some(key) = versions.first().map(|version| version.key.clone()) else { return };
        if self.retired.iter().any(|prefix| key.starts_with(prefix)) {
            return versions.clear();
        }
        let mut newer: Option<SeqNo> = None;
        versions.retain(|version| {
            let newer = newer.replace(version.seqno);
            newer.is_none_or(|newer| self.horizon.needs(version.seqno, newer))
        });
        if versions.last().is_some_and(is_deletion) && !self.levels.deeper_may_hold(self.output, &key) {
            while versions.last().is_some_and(is_deletion) {
                versions.pop();
            }
        }
    }
}

fn is_deletion(version: &RawEntry) -> bool {
    version.value.is_none()
}

/// Tables written by a job, each up to the usual size. All versions of a key are in one table.
struct Output<'a> {
    files: &'a Files,
    writer: Option<TableWriter>,
    metas: Vec<TableMeta>,
}

impl Output<'_> {
    fn add(&mut self, versions: &[RawEntry]) -> Result<(), StoreError> {
        if versions.is_empty() {
            return Ok(());
        }
        if self.writer.as_ref().is_some_and(|writer| writer.bytes() >= self.files.options.table_bytes as u64) {
            self.end_table()?;
        }
        let files = self.files;
        let writer = match &mut self.writer {
            Some(writer) => writer,
            None => {
                let fresh = TableWriter::create(&files.tables, files.new_number(), files.table_style())?;
                self.writer.insert(fresh)
            }
        };
        versions.iter().try_for_each(|version| writer.add(&version.key, version.seqno, version.value.as_deref()))
    }

    fn end_table(&mut self) -> Result<(), StoreError> {
        if let Some(writer) = self.writer.take() {
            self.metas.push(writer.finish()?);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<TableMeta>, StoreError> {
        self.end_table()?;
        Ok(std::mem::take(&mut self.metas))
    }
}

impl Drop for Output<'_> {
    /// Deletes the tables of a job that failed, to free the space.
    fn drop(&mut self) {
        self.metas.iter().for_each(|meta| self.files.tables.remove(meta.number));
    }
}

/// Returns the numbers of the tables that contain only keys of `prefix`.
pub(super) fn tables_within(levels: &Levels, prefix: &[u8]) -> Vec<u64> {
    let within = levels.tables().filter(|table| is_within_prefix(&table.meta, prefix));
    within.map(|table| table.meta.number).collect()
}
