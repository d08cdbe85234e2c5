//! Replay of the journal into a memtable when a store opens.
//!
//! ```text
//! segment ─► chunks ─┬─► open frames ─► decode ─► newest change of each key, sorted ─┬─► runs ─► merge ─► memtable
//!                    └─► the same on another thread ─────────────────────────────────┘
//! ```
//!
//! 1. [`read`] reads a segment in chunks of whole frames, into few buffers that are reused.
//! 2. [`threads`] distributes the chunks over threads.
//! 3. [`chunk`] decrypts and decodes the frames of a chunk.
//! 4. [`newest`] copies the newest changes of a chunk, sorted by key.
//! 5. [`runs`] merges those of all chunks.
//!
//! No reader exists before the store is open, so only the newest change of each key is needed. Inserting the changes one by
//! one would descend into the map for each of them, at random places, which took most of the time of a replay. Instead
//! each chunk sorts its changes and copies the newest ones, and the map is built from sorted runs (ADR 0028).
//!
//! A new process has no memory yet, and getting it from the system costs more than the work on it. Buffers are therefore
//! reused, and the changes of a chunk are copied while it is in the processor's cache.
//!
//! Only the calling thread uses the disk, so the order of disk operations does not depend on the threads.

mod chunk;
mod head;
mod newest;
mod read;
mod runs;
mod threads;

use std::collections::BTreeMap;
use std::thread;

use super::batch::SeqNo;
use super::disk::Disk;
use super::error::StoreError;
use super::header::{FileHeader, FileKind, HEADER_BYTES};
use super::journal::{FLAG_UNSYNCED, frame_seed};
use super::manifest::Manifest;
use super::memtable::Memtable;
use super::seal::Vault;
use super::tail;
use chunk::{Frames, Opened};
use read::{Chunks, Segment};
use runs::Runs;

pub(super) use chunk::Payload;

/// Damage of a segment whose predecessor is missing.
const MISSING_BEFORE: &str = "commits are missing before it: an earlier journal file was removed or replaced";
/// Size of a chunk, unless it is a single larger frame. Larger chunks leave the processor's cache before they are opened;
/// smaller ones make more runs to merge and copy more changes that a later chunk overwrites.
const CHUNK_BYTES: usize = 2 << 20;
/// Maximum number of threads. Reading and building the map are not parallel, so more would gain little.
const THREADS_MAX: usize = 4;

/// Segment to replay.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplaySegment {
    pub(super) number: u64,
    /// True if there is no later segment, so that its end may be torn.
    pub(super) last: bool,
    /// True if the manifest names it or a later one, so that its header must be durable.
    pub(super) recorded: bool,
}

/// Replay in progress.
pub(super) struct Replay<'a> {
    disk: &'a dyn Disk,
    vault: &'a Vault,
    manifest: &'a Manifest,
    threads_max: usize,
    /// At least the size of a frame's header.
    chunk_bytes: usize,
    /// Sequence number of the last commit replayed.
    seqno: SeqNo,
    /// Newest changes of each chunk.
    runs: Runs,
    work: Work,
}

/// Counts of the work done by a replay, for tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Work {
    /// Changes decoded.
    changes: usize,
    /// Changes copied out of the journal.
    copied: usize,
}

impl<'a> Replay<'a> {
    pub(super) fn new(disk: &'a dyn Disk, vault: &'a Vault, manifest: &'a Manifest) -> Self {
        let threads_max = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        Replay {
            disk,
            vault,
            manifest,
            threads_max,
            chunk_bytes: CHUNK_BYTES,
            seqno: manifest.last_seqno,
            runs: Runs::default(),
            work: Work::default(),
        }
    }

    /// Returns the memtable with the replayed changes and the sequence number of the last commit.
    pub(super) fn finish(self) -> (Memtable, SeqNo) {
        (Memtable::of_newest(self.runs.merge()), self.seqno)
    }

    /// Replays the next segment. Cuts off a torn end, durably. Returns the id of the segment's key, or `None` for a
    /// segment that was never completed.
    pub(super) fn segment(&mut self, segment: ReplaySegment) -> Result<Option<u32>, StoreError> {
        let ReplaySegment { number, last, recorded } = segment;
        let file = Segment::open(self.disk, FileKind::Journal.file_name(number))?;
        let header = FileHeader::decode(&file.read_from(0, HEADER_BYTES)?, &file.name, FileKind::Journal, number);
        if last && !recorded && file.size <= HEADER_BYTES && header.is_err() {
            self.remove(file)?;
            return Ok(None);
        }
        let header = header?;
        if header.store_id != self.manifest.store_id {
            return Err(StoreError::corrupt(&file.name, "it belongs to another store"));
        }
        let frames = Frames { seal: header.seal(self.vault)?, seed: frame_seed(&header) };
        let end = self.apply(&file, &frames)?;
        // Opening a frame works in place and destroys one that does not open, so its bytes are read again.
        let rest = file.read_from(end, usize::MAX)?;
        let may_be_torn = last && (header.flags & FLAG_UNSYNCED != 0 || !frames.good_frame_follows(&rest));
        if !rest.is_empty() && !may_be_torn {
            return Err(StoreError::corrupt(&file.name, format!("a frame at byte {end} cannot be decrypted")));
        }
        if last {
            let frame_bytes = frames.header_at(&rest, 0).map(|(_, sealed)| sealed.end);
            tail::report(&file.name, end, &rest, frame_bytes);
            file.make_durable(end)?;
        }
        Ok(Some(header.key_id))
    }

    /// Removes a segment during whose creation the power failed. No write in it was acknowledged.
    fn remove(&self, file: Segment) -> Result<(), StoreError> {
        let name = file.close();
        let failed = |error| StoreError::io("read the journal", &name, error);
        self.disk.remove(&name).map_err(failed)?;
        self.disk.sync_dir().map_err(failed)
    }

    /// Applies the frames of a segment up to its end or the first bad one; returns its offset.
    fn apply(&mut self, file: &Segment, frames: &Frames) -> Result<usize, StoreError> {
        let workers = (file.size / self.chunk_bytes).min(self.threads_max - 1);
        let chunks = Chunks::new(file, frames, self.chunk_bytes);
        let manifest = self.manifest;
        // Chunks whose predecessor has not been opened yet, by their offset. Those after a bad frame stay here: their
        // frames do not count, whether they open or not.
        let mut early = BTreeMap::new();
        let mut end = HEADER_BYTES;
        let mut outcome = Ok(());
        let take = |opened: Opened| {
            early.insert(opened.start, opened);
            while outcome.is_ok()
                && let Some(opened) = early.remove(&end)
            {
                end = opened.end;
                outcome = self.add(opened, file);
            }
        };
        threads::open_all(chunks, workers, |chunk| chunk.open(frames, manifest), take)?;
        outcome.map(|()| end)
    }

    /// Adds the content of the next chunk.
    fn add(&mut self, opened: Opened, file: &Segment) -> Result<(), StoreError> {
        let follows = opened.first.is_none_or(|first| first == self.seqno + 1);
        if !follows || opened.is_broken {
            return Err(StoreError::corrupt(&file.name, MISSING_BEFORE));
        }
        self.seqno = opened.last.unwrap_or(self.seqno);
        self.work.changes += opened.changes;
        self.work.copied += opened.newest.entries.len();
        // Chunks are alike, so this one shows how much space the rest of the segment needs.
        let chunks_left = (file.size - opened.start) / self.chunk_bytes + 1;
        self.runs.reserve(&opened.newest, chunks_left);
        self.runs.push(opened.newest);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
