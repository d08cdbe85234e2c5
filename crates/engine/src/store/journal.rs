//! The journal: every commit, in order, before it is acknowledged.
//!
//! A segment is a file header followed by frames. One frame contains all batches that were waiting when the previous
//! sync ended, so one sync serves many writers.
//!
//! ```text
//! frame   = length:u32 index:u32 check:u64 sealed(payload)     length = of the sealed payload; index = 0, 1, 2, …
//! payload = first sequence number:u64 count:u32 batch*         batch i has sequence number first + i
//! ```
//!
//! A frame opens only in its segment and at its index, so a frame of an older segment cannot be replayed. The header is
//! synced before the first frame is written, and each frame before the next one, so a power cut can only damage the
//! last frame. [`replay`](super::replay) therefore treats a bad frame as torn if no good frame follows, and as damage otherwise. An
//! orderly close ends the segment with an empty frame, which makes damage to the last batch detectable too. While a
//! segment is being written, zeros may follow the last frame: preallocated space, which makes syncs faster.

use std::io;
use std::sync::Arc;

use twox_hash::XxHash64;

use super::batch::{Batch, SeqNo};
use super::disk::{Disk, DiskFile};
use super::error::StoreError;
use super::header::{FileHeader, FileKind, HEADER_BYTES, StoreId};
use super::options::{Durability, StoreOptions};
use super::retry;
use super::seal::{Seal, TAG_BYTES, Vault};

/// Header flag: frames are not synced one by one, so more than the last may be torn.
pub(super) const FLAG_UNSYNCED: u8 = 1;
pub(super) const FRAME_HEADER_BYTES: usize = 16;
const PAYLOAD_HEADER_BYTES: usize = 12;
/// Space is preallocated only for frames smaller than this; larger ones do not become faster.
const RESERVED_FRAME_BYTES_MAX: usize = 32 << 10;
/// Buffers larger than this are freed after use.
const SPARE_BYTES_MAX: usize = 1 << 20;

/// Batches to be written to the journal together.
#[derive(Debug)]
pub(super) struct Frame {
    segment: u64,
    first: SeqNo,
    count: u32,
    buffer: Vec<u8>,
    /// True when the frame is sealed. It takes no more batches, and a retry writes the same bytes again (ADR 0029).
    closed: bool,
}

impl Frame {
    pub(super) fn new(segment: u64, first: SeqNo, mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        buffer.resize(FRAME_HEADER_BYTES + PAYLOAD_HEADER_BYTES, 0);
        Frame { segment, first, count: 0, buffer, closed: false }
    }

    pub(super) fn segment(&self) -> u64 {
        self.segment
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn push(&mut self, batch: &Batch) {
        debug_assert!(!self.closed, "a sealed frame does not grow");
        batch.encode(&mut self.buffer);
        self.count += 1;
    }

    pub(super) fn bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Returns the size of the frame in the journal.
    pub(super) fn sealed_bytes(&self) -> u64 {
        (self.buffer.len() + TAG_BYTES) as u64
    }

    pub(super) fn commits(&self) -> u32 {
        self.count
    }

    /// Returns the sequence number of the last batch.
    pub(super) fn last(&self) -> SeqNo {
        self.first + SeqNo::from(self.count) - 1
    }

    /// Returns the buffer for reuse, unless it is too large to keep.
    pub(super) fn into_spare(self) -> Option<Vec<u8>> {
        (self.buffer.capacity() <= SPARE_BYTES_MAX).then_some(self.buffer)
    }

    fn close(&mut self, seal: &Seal, seed: u64, index: u32) -> Result<(), StoreError> {
        if self.closed {
            return Ok(());
        }
        let payload = &mut self.buffer[FRAME_HEADER_BYTES..];
        payload[..8].copy_from_slice(&self.first.to_le_bytes());
        payload[8..12].copy_from_slice(&self.count.to_le_bytes());
        seal.close(u64::from(index), &mut self.buffer, FRAME_HEADER_BYTES)?;
        let length = u32::try_from(self.buffer.len() - FRAME_HEADER_BYTES).map_err(|_| StoreError::BatchTooLarge)?;
        self.buffer[..FRAME_HEADER_BYTES].copy_from_slice(&frame_header(seed, length, index));
        self.closed = true;
        Ok(())
    }
}

/// Returns the header of a frame. Its checksum is seeded with the segment's salt, so that a frame of another segment is
/// not taken for one of this segment.
pub(super) fn frame_header(seed: u64, length: u32, index: u32) -> [u8; FRAME_HEADER_BYTES] {
    let mut header = [0; FRAME_HEADER_BYTES];
    header[..4].copy_from_slice(&length.to_le_bytes());
    header[4..8].copy_from_slice(&index.to_le_bytes());
    let check = XxHash64::oneshot(seed, &header[..8]);
    header[8..].copy_from_slice(&check.to_le_bytes());
    header
}

/// Returns the seed of the checksums in the headers of a segment's frames.
pub(super) fn frame_seed(header: &FileHeader) -> u64 {
    XxHash64::oneshot(header.number, &header.salt)
}

/// Writer of frames, one segment after the other.
#[derive(Debug)]
pub(super) struct JournalWriter {
    disk: Arc<dyn Disk>,
    vault: Vault,
    store_id: StoreId,
    synced: bool,
    reserve_bytes: usize,
    segment: Option<Segment>,
}

#[derive(Debug)]
struct Segment {
    number: u64,
    name: String,
    file: Arc<dyn DiskFile>,
    seal: Seal,
    seed: u64,
    index: u32,
    offset: u64,
    /// Size of the file, including preallocated zeros.
    reserved: u64,
    reserve_bytes: usize,
    /// True when the empty frame of an orderly end is written.
    ended: bool,
}

/// Callback that records a new segment in the manifest. Called when the segment is durable, before its first frame.
pub(super) type Started<'a> = &'a dyn Fn(u64) -> Result<(), StoreError>;

impl JournalWriter {
    pub(super) fn new(disk: Arc<dyn Disk>, vault: Vault, store_id: StoreId, options: &StoreOptions) -> Self {
        let synced = options.durability == Durability::Sync;
        let reserve_bytes = if synced { options.journal_reserve_bytes } else { 0 };
        JournalWriter { disk, vault, store_id, synced, reserve_bytes, segment: None }
    }

    pub(super) fn is_synced(&self) -> bool {
        self.synced
    }

    /// Writes a frame and syncs it, unless the store does not sync.
    ///
    /// When a resource is exhausted, the end of the segment does not change, and the same frame can be written again at
    /// the same offset: nothing after the last synced frame counts (ADR 0029). After any other failure the segment is
    /// abandoned: its end is unknown, and nothing may follow.
    pub(super) fn write(&mut self, frame: &mut Frame, started: Started<'_>) -> Result<(), StoreError> {
        let outcome = self.try_write(frame, started);
        self.unless_scarce(outcome)
    }

    fn try_write(&mut self, frame: &mut Frame, started: Started<'_>) -> Result<(), StoreError> {
        let segment = match &mut self.segment {
            Some(segment) if segment.number == frame.segment => segment,
            earlier => {
                if let Some(segment) = earlier {
                    segment.finish()?;
                }
                self.segment = None;
                // ADR 0029: the segment is made durable first, then recorded in the manifest, then written. The other
                // order could leave a manifest that requires a file which never existed.
                let segment = self.start(frame.segment)?;
                started(frame.segment)?;
                self.segment.insert(segment)
            }
        };
        segment.write(frame, self.synced)
    }

    /// Makes everything written durable and marks the orderly end.
    pub(super) fn finish(&mut self) -> Result<(), StoreError> {
        let outcome = self.segment.as_mut().map_or(Ok(()), Segment::finish);
        self.segment = None;
        outcome
    }

    fn unless_scarce(&mut self, outcome: Result<(), StoreError>) -> Result<(), StoreError> {
        if outcome.as_ref().is_err_and(|error| !error.is_scarcity()) {
            self.segment = None;
        }
        outcome
    }

    /// Abandons the segment in its current state.
    pub(super) fn give_up(&mut self) {
        self.segment = None;
    }

    /// Closes the segment's file without an end mark if the manifest no longer needs it.
    pub(super) fn let_go_before(&mut self, first_needed: u64) {
        self.segment.take_if(|segment| segment.number < first_needed);
    }

    fn start(&self, number: u64) -> Result<Segment, StoreError> {
        let mut header = FileHeader::new(&self.vault, FileKind::Journal, number, self.store_id);
        header.flags = if self.synced { 0 } else { FLAG_UNSYNCED };
        let name = FileKind::Journal.file_name(number);
        let seal = header.seal(&self.vault)?;
        let failed = |error| StoreError::io("start the journal", &name, error);
        let file = self.disk.create(&name).map_err(failed)?;
        file.write_at(&header.encode(), 0).map_err(failed)?;
        // Nothing refers to the file yet, so a sync that fails for lack of space is not final: the file is created
        // again.
        file.sync().map_err(failed)?;
        self.disk.sync_dir().map_err(|error| StoreError::sync(&self.disk.place(), error))?;
        let seed = frame_seed(&header);
        Ok(Segment {
            number,
            name,
            file,
            seal,
            seed,
            index: 0,
            offset: HEADER_BYTES as u64,
            reserved: 0,
            reserve_bytes: self.reserve_bytes,
            ended: false,
        })
    }
}

impl Segment {
    fn write(&mut self, frame: &mut Frame, sync: bool) -> Result<(), StoreError> {
        frame.close(&self.seal, self.seed, self.index)?;
        let end = self.offset + frame.buffer.len() as u64;
        self.put(&mut frame.buffer, end)?;
        if sync {
            self.sync()?;
        }
        self.index += 1;
        self.offset = end;
        Ok(())
    }

    /// Writes the bytes up to `end`, followed by zeros where preallocation makes syncs faster.
    fn put(&mut self, bytes: &mut Vec<u8>, end: u64) -> Result<(), StoreError> {
        if self.reserve_bytes > 0 && end > self.reserved && bytes.len() < RESERVED_FRAME_BYTES_MAX {
            // A sync that need not record a new file size takes little more than half the time.
            let length = bytes.len();
            bytes.resize(length + self.reserve_bytes, 0);
            self.reserved = end + self.reserve_bytes as u64;
            let written = self.file.write_at(bytes, self.offset);
            bytes.truncate(length);
            match written {
                // The zeros are optional: the frame may fit without them.
                Err(error) if retry::is_scarcity(&error) => {}
                written => return written.map_err(|error| self.failed(error)),
            }
        }
        self.file.write_at(bytes, self.offset).map_err(|error| self.failed(error))
    }

    fn sync(&self) -> Result<(), StoreError> {
        self.file.sync().map_err(|error| StoreError::sync(&self.name, error))?;
        // A file that was deleted still accepts writes and syncs, but they are lost. The check is cheap next to a sync.
        if self.file.is_removed().map_err(|error| self.failed(error))? {
            return Err(
                self.failed(io::Error::new(io::ErrorKind::NotFound, "the file was removed while it was in use"))
            );
        }
        Ok(())
    }

    /// Ends the segment with an empty frame and cuts off the zeros. Can be retried when a resource was exhausted.
    fn finish(&mut self) -> Result<(), StoreError> {
        if !self.ended {
            self.reserve_bytes = 0;
            self.write(&mut Frame::new(self.number, 0, Vec::new()), false)?;
            self.ended = true;
        }
        if self.reserved > self.offset {
            self.file.truncate(self.offset).map_err(|error| StoreError::io("end the journal", &self.name, error))?;
        }
        self.file.sync().map_err(|error| StoreError::sync(&self.name, error))
    }

    fn failed(&self, error: io::Error) -> StoreError {
        StoreError::io("write the journal", &self.name, error)
    }
}
