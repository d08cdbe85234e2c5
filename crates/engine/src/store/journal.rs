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
//! last frame. [`replay`] therefore treats a bad frame as torn if no good frame follows, and as damage otherwise. An
//! orderly close ends the segment with an empty frame, which makes damage to the last batch detectable too. While a
//! segment is being written, zeros may follow the last frame: preallocated space, which makes syncs faster.

use std::io;
use std::sync::Arc;

use twox_hash::XxHash64;

use super::batch::{Batch, SeqNo};
use super::codec::Reader;
use super::disk::{Disk, DiskFile, read_whole};
use super::error::StoreError;
use super::header::{FileHeader, FileKind, HEADER_BYTES, StoreId};
use super::options::{Durability, StoreOptions};
use super::retry;
use super::seal::{Seal, TAG_BYTES, Vault};
use super::tail;

/// Header flag: frames are not synced one by one, so more than the last may be torn.
const FLAG_UNSYNCED: u8 = 1;
const FRAME_HEADER_BYTES: usize = 16;
const PAYLOAD_HEADER_BYTES: usize = 12;
/// Space is preallocated only for frames smaller than this; larger ones do not become faster.
const RESERVED_FRAME_BYTES_MAX: usize = 32 << 10;
/// Damage of a segment whose predecessor is missing.
const MISSING_BEFORE: &str = "commits are missing before it: an earlier journal file was removed or replaced";
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

fn frame_header(seed: u64, length: u32, index: u32) -> [u8; FRAME_HEADER_BYTES] {
    let mut header = [0; FRAME_HEADER_BYTES];
    header[..4].copy_from_slice(&length.to_le_bytes());
    header[4..8].copy_from_slice(&index.to_le_bytes());
    let check = XxHash64::oneshot(seed, &header[..8]);
    header[8..].copy_from_slice(&check.to_le_bytes());
    header
}

fn frame_seed(header: &FileHeader) -> u64 {
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

/// Segment to replay.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplaySegment {
    pub(super) number: u64,
    /// True if there is no later segment, so that its end may be torn.
    pub(super) last: bool,
    /// True if the manifest names it or a later one, so that its header must be durable.
    pub(super) recorded: bool,
}

/// Reads a segment and passes its batches to `apply` in order; `apply` returns false for a batch that does not follow
/// the previous one. Cuts off a torn end, durably. Returns the id of the segment's key, or `None` for a segment that
/// was never completed.
pub(super) fn replay(
    disk: &dyn Disk,
    vault: &Vault,
    store_id: StoreId,
    ReplaySegment { number, last, recorded }: ReplaySegment,
    apply: &mut dyn FnMut(SeqNo, Batch) -> bool,
) -> Result<Option<u32>, StoreError> {
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
    if header.store_id != store_id {
        return Err(StoreError::corrupt(&name, "it belongs to another store"));
    }
    let mut frames =
        Frames { seal: header.seal(vault)?, seed: frame_seed(&header), bytes: &mut bytes, at: HEADER_BYTES };
    let end = frames.apply_all(&name, apply)?;
    if end < frames.bytes.len() {
        let torn = last && (header.flags & FLAG_UNSYNCED != 0 || !frames.good_frame_follows(end));
        if !torn {
            return Err(StoreError::corrupt(&name, format!("a frame at byte {end} does not open")));
        }
    }
    if last {
        let frame_bytes = frames.header_at(end).map(|(_, sealed)| sealed.end - end);
        // Opening a frame works in place and destroys one that does not open, so its bytes are read again.
        let rest = read_from(disk, &name, end as u64, bytes.len() - end).map_err(failed)?;
        tail::report(&name, end, &rest, frame_bytes);
        make_durable(disk, &name, end as u64, bytes.len() as u64)?;
    }
    Ok(Some(header.key_id))
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

/// Frames of a segment in memory.
struct Frames<'a> {
    seal: Seal,
    seed: u64,
    bytes: &'a mut Vec<u8>,
    at: usize,
}

impl Frames<'_> {
    /// Applies frames up to the end or the first bad one; returns its offset.
    fn apply_all(&mut self, name: &str, apply: &mut dyn FnMut(SeqNo, Batch) -> bool) -> Result<usize, StoreError> {
        let mut index = 0;
        while let Some((start, length)) = self.open_frame(self.at, index) {
            let payload = &self.bytes[start..start + length];
            decode_payload(payload, apply).ok_or_else(|| StoreError::corrupt(name, MISSING_BEFORE))?;
            self.at = start + length + TAG_BYTES;
            index += 1;
        }
        Ok(self.at)
    }

    /// Opens the frame at `at` in place; returns the offset and length of its payload.
    fn open_frame(&mut self, at: usize, index: u32) -> Option<(usize, usize)> {
        let (found, sealed) = self.frame_at(at)?;
        if found != index {
            return None;
        }
        let start = sealed.start;
        let length = self.seal.open(u64::from(index), &mut self.bytes[sealed])?;
        Some((start, length))
    }

    /// Returns the index and the sealed bytes of a frame at `at` that has a valid header and is complete.
    fn frame_at(&self, at: usize) -> Option<(u32, std::ops::Range<usize>)> {
        self.header_at(at).filter(|(_, sealed)| sealed.end <= self.bytes.len())
    }

    /// Returns the index and the sealed range of a frame at `at` that has a valid header but may be cut off.
    fn header_at(&self, at: usize) -> Option<(u32, std::ops::Range<usize>)> {
        let header: &[u8; FRAME_HEADER_BYTES] = self.bytes.get(at..at + FRAME_HEADER_BYTES)?.try_into().ok()?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let index = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        // No frame has length 0. This check makes scanning preallocated zeros fast.
        if length == 0 {
            return None;
        }
        let start = at + FRAME_HEADER_BYTES;
        let end = start.checked_add(length as usize)?;
        (*header == frame_header(self.seed, length, index)).then_some((index, start..end))
    }

    /// Returns whether a frame after the bad one at `bad` opens. If so, the bad frame was complete once and is damaged.
    fn good_frame_follows(&self, bad: usize) -> bool {
        (bad + 1..self.bytes.len()).any(|at| match self.frame_at(at) {
            Some((index, sealed)) => self.seal.open(u64::from(index), &mut self.bytes[sealed].to_vec()).is_some(),
            None => false,
        })
    }
}

/// Passes the batches of an opened frame to `apply` until it returns false. Returns `None` if it did, or if the bytes,
/// which may be arbitrary, are not a valid payload.
pub(super) fn decode_payload(payload: &[u8], apply: &mut dyn FnMut(SeqNo, Batch) -> bool) -> Option<()> {
    let mut reader = Reader::new(payload);
    let first = reader.u64()?;
    let count = reader.u32()?;
    for position in 0..count {
        let batch = Batch::decode(&mut reader)?;
        if !apply(first.checked_add(SeqNo::from(position))?, batch) {
            return None;
        }
    }
    reader.is_empty().then_some(())
}
