//! Flush of a frozen memtable to a table of level 0.
//!
//! The memtable is frozen together with the end of its journal segment. When all its commits are durable, the flush
//! thread writes it as a table, adds the table to the manifest, and removes the segments that are no longer needed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::background::Frozen;
use super::error::StoreError;
use super::header::FileKind;
use super::manifest::Manifest;
use super::memtable::Memtable;
use super::obstacle::Task;
use super::pipeline::PipelineState;
use super::snapshot::View;
use super::sorted_table::Table;
use super::{Files, Shared};

impl Shared {
    /// Freezes the memtable and starts a new one with its own journal segment.
    pub(super) fn freeze(&self, files: &Files, state: &mut PipelineState) {
        let fresh = Arc::new(Memtable::default());
        let memtable = std::mem::replace(&mut state.memtable, fresh.clone());
        state.segment = files.new_number();
        let journal_bytes = std::mem::take(&mut state.journal_bytes);
        let frozen = Frozen { memtable, last_seqno: state.seqno, first_segment: state.segment, journal_bytes };
        self.readers.update_view(|view| {
            let memtables = std::iter::once(fresh).chain(view.memtables.iter().cloned()).collect();
            Arc::new(View { memtables, levels: view.levels.clone(), retired: view.retired.clone() })
        });
        files.update_work(|work| work.frozen.push_back(frozen));
    }

    /// Body of the flush thread: flushes memtables until the store closes or a write fails.
    pub(super) fn flush_loop(&self, files: &Files) {
        while let Some(frozen) = files.background.wait_for(|work| work.frozen.front().cloned()) {
            match self.flush(files, &frozen) {
                Ok(()) => self.pass_obstacle(files, Task::Flush),
                Err(error) if error.is_scarcity() => {
                    // The memtable is still in memory and in the journal, so the retry writes all of it to a new file.
                    self.meet_obstacle(files, Task::Flush, &error);
                    continue;
                }
                Err(error) => return self.stop(&error),
            }
            self.counters.flushes.fetch_add(1, Ordering::Relaxed);
            files.update_work(|work| {
                work.frozen.pop_front();
                work.wanted += 1;
            });
        }
    }

    fn flush(&self, files: &Files, frozen: &Frozen) -> Result<(), StoreError> {
        // Only durable commits go to tables: the manifest must not claim a commit whose journal write can still fail.
        self.pipeline.hand_over();
        self.gate.watch(frozen.last_seqno)?;
        let absorbed = self.absorb(files, &frozen.memtable);
        let gone = absorbed.numbers();
        let table = self.write_memtable(files, &frozen.memtable, absorbed.versions)?;
        let made = table.map(|meta| Arc::new(Table::new(Arc::new(meta), files.tables.clone())));
        let made: Vec<Arc<Table>> = made.into_iter().collect();
        let advance = |manifest: &mut Manifest| {
            manifest.last_seqno = frozen.last_seqno;
            manifest.first_segment = frozen.first_segment;
        };
        let levels = |levels: &super::levels::Levels| levels.replace(&gone, 0, made.clone());
        let installed = self.install(files, levels, advance, Some(&frozen.memtable));
        installed.inspect_err(|error| drop_unnamed(error, &made))?;
        // Close the segment's file: a removed file keeps its space while it is open, until a commit starts the next
        // segment.
        files.journal.lock().let_go_before(frozen.first_segment);
        // The manifest no longer needs the segments. One that cannot be removed now is removed by a later flush or
        // opening.
        remove_segments(files, frozen.first_segment)
            .unwrap_or_else(|error| tracing::warn!(%error, "cannot remove an obsolete journal file yet"));
        Ok(())
    }
}

/// Deletes the files of tables that were to be added to a manifest that could not be written. After a failed sync it is
/// unknown which manifest a power cut would leave, so the files are kept.
pub(super) fn drop_unnamed(error: &StoreError, tables: &[Arc<Table>]) {
    if error.is_scarcity() {
        tables.iter().for_each(|table| table.make_obsolete());
    }
}

fn remove_segments(files: &Files, first_needed: u64) -> Result<(), StoreError> {
    let disk = &files.tables.disk;
    let names = disk.list().map_err(|error| StoreError::io("list", &disk.place(), error))?;
    for (name, _) in names {
        if matches!(FileKind::of_name(&name), Some((FileKind::Journal, number)) if number < first_needed) {
            disk.remove(&name).map_err(|error| StoreError::io("remove", &name, error))?;
        }
    }
    Ok(())
}
