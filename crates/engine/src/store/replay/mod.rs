//! Replay of the journal into a memtable when a store opens.
//!
//! ```text
//! segment ─► parts ─┬─► open frames ─► decode ─► newest change of each key, sorted ─┬─► runs ─► memtable
//!                   └─► the same on another thread ─────────────────────────────────┘
//! ```
//!
//! No reader exists before the store is open, so only the newest change of each key is needed. Inserting the changes one by
//! one would descend into the map for each of them, at random places, which took most of the time of a replay. Instead
//! each part sorts its changes and copies the newest ones, and the map is built from sorted runs (ADR 0028).
//!
//! Only the calling thread uses the disk, so the order of disk operations does not depend on the threads.

mod newest;
mod part;

use std::io;
use std::thread;

use super::batch::SeqNo;
use super::disk::{Disk, read_whole};
use super::error::StoreError;
use super::header::{FileHeader, FileKind, HEADER_BYTES};
use super::journal::{FLAG_UNSYNCED, frame_seed};
use super::manifest::Manifest;
use super::memtable::{KeyVersion, Memtable};
use super::seal::Vault;
use super::tail;
use part::{Frames, Opened, Part};

pub(super) use part::Payload;

/// Damage of a segment whose predecessor is missing.
const MISSING_BEFORE: &str = "commits are missing before it: an earlier journal file was removed or replaced";
/// A smaller part is not worth a thread.
const PART_BYTES_MIN: usize = 1 << 20;
/// Maximum number of parts of a segment. Reading and building the map are not parallel, so more would gain little.
const PARTS_MAX: usize = 4;

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
    parts_max: usize,
    part_bytes_min: usize,
    /// Sequence number of the last commit replayed.
    seqno: SeqNo,
    /// Newest change of each key, as sorted runs in the order of commits.
    entries: Vec<KeyVersion>,
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
        let parts_max = thread::available_parallelism().map_or(1, usize::from).min(PARTS_MAX);
        Replay {
            disk,
            vault,
            manifest,
            parts_max,
            part_bytes_min: PART_BYTES_MIN,
            seqno: manifest.last_seqno,
            entries: Vec::new(),
            work: Work::default(),
        }
    }

    /// Returns the memtable with the replayed changes and the sequence number of the last commit.
    pub(super) fn finish(self) -> (Memtable, SeqNo) {
        (Memtable::of_newest(self.entries), self.seqno)
    }

    /// Replays the next segment. Cuts off a torn end, durably. Returns the id of the segment's key, or `None` for a
    /// segment that was never completed.
    pub(super) fn segment(&mut self, segment: ReplaySegment) -> Result<Option<u32>, StoreError> {
        let ReplaySegment { number, last, recorded } = segment;
        let disk = self.disk;
        let name = FileKind::Journal.file_name(number);
        let failed = |error| StoreError::io("read the journal", &name, error);
        let mut bytes = read_whole(disk, &name).map_err(failed)?;
        let header = FileHeader::decode(&bytes, &name, FileKind::Journal, number);
        if last && !recorded && bytes.len() <= HEADER_BYTES && header.is_err() {
            // The power failed while the segment was being created: no write in it was acknowledged.
            disk.remove(&name).map_err(failed)?;
            disk.sync_dir().map_err(failed)?;
            return Ok(None);
        }
        let header = header?;
        if header.store_id != self.manifest.store_id {
            return Err(StoreError::corrupt(&name, "it belongs to another store"));
        }
        let frames = Frames { seal: header.seal(self.vault)?, seed: frame_seed(&header) };
        let end = self.apply(&name, &frames, &mut bytes)?;
        let size = bytes.len();
        drop(bytes);
        // Opening a frame works in place and destroys one that does not open, so its bytes are read again.
        let rest = read_from(disk, &name, end as u64, size - end).map_err(failed)?;
        if end < size && !(last && (header.flags & FLAG_UNSYNCED != 0 || !frames.good_frame_follows(&rest))) {
            return Err(StoreError::corrupt(&name, format!("a frame at byte {end} cannot be decrypted")));
        }
        if last {
            let frame_bytes = frames.header_at(&rest, 0).map(|(_, sealed)| sealed.end);
            tail::report(&name, end, &rest, frame_bytes);
            make_durable(disk, &name, end as u64, size as u64)?;
        }
        Ok(Some(header.key_id))
    }

    /// Applies the frames of a segment up to its end or the first bad one; returns its offset.
    fn apply(&mut self, name: &str, frames: &Frames, bytes: &mut [u8]) -> Result<usize, StoreError> {
        let parts = (bytes.len() / self.part_bytes_min).clamp(1, self.parts_max);
        let parts = frames.split(bytes, parts);
        let mut end = HEADER_BYTES;
        for opened in open_all(frames, parts, self.manifest)? {
            let follows = opened.first.is_none_or(|first| first == self.seqno + 1);
            if !follows || opened.is_broken {
                return Err(StoreError::corrupt(name, MISSING_BEFORE));
            }
            self.seqno = opened.last.unwrap_or(self.seqno);
            self.work.changes += opened.changes;
            self.work.copied += opened.newest.len();
            if self.entries.is_empty() {
                self.entries = opened.newest;
            } else {
                self.entries.extend(opened.newest);
            }
            end = opened.end;
            if !opened.is_complete {
                // The frames of later parts follow a bad one. They do not count, whether they open or not.
                break;
            }
        }
        Ok(end)
    }
}

/// Opens all parts, each on a thread of its own, the first one on this thread.
fn open_all(frames: &Frames, parts: Vec<Part<'_>>, manifest: &Manifest) -> Result<Vec<Opened>, StoreError> {
    thread::scope(|scope| {
        let mut parts = parts.into_iter();
        let first = parts.next();
        let mut threads = Vec::new();
        for part in parts {
            let thread = thread::Builder::new().name("store-replay".to_owned());
            let thread = thread.spawn_scoped(scope, move || part.open(frames, manifest));
            threads.push(thread.map_err(|error| StoreError::io("start a thread for", "the store", error))?);
        }
        let mut opened: Vec<Opened> = first.into_iter().map(|part| part.open(frames, manifest)).collect();
        for thread in threads {
            opened.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        Ok(opened)
    })
}

fn read_from(disk: &dyn Disk, name: &str, offset: u64, bytes: usize) -> io::Result<Vec<u8>> {
    let mut content = vec![0; bytes];
    if bytes > 0 {
        disk.open(name)?.read_at(&mut content, offset)?;
    }
    Ok(content)
}

/// Cuts off a torn end, and syncs data that a killed process may have written without a sync.
fn make_durable(disk: &dyn Disk, name: &str, end: u64, size: u64) -> Result<(), StoreError> {
    let failed = |error| StoreError::io("cut off the torn end of", name, error);
    let file = disk.open(name).map_err(failed)?;
    if end < size {
        file.truncate(end).map_err(failed)?;
    }
    file.sync().map_err(failed)
}

#[cfg(test)]
mod tests;
