//! Opening and decoding the frames of one chunk of a journal segment.

use std::ops::Range;

use super::super::batch::{self, SeqNo};
use super::super::codec::Reader;
use super::super::journal::{FRAME_HEADER_BYTES, frame_header};
use super::super::manifest::Manifest;
use super::super::seal::Seal;
use super::newest::{Change, Run};

/// Format of the frames of one segment.
pub(super) struct Frames {
    pub(super) seal: Seal,
    pub(super) seed: u64,
}

/// Whole frames of a segment that follow each other, and the buffer that holds them.
pub(super) struct Chunk {
    /// Buffer of the frames. It may be longer than they are, so that it is not cleared each time it is reused.
    pub(super) buffer: Vec<u8>,
    /// Length of the frames.
    pub(super) length: usize,
    /// Offset of the first frame in the file.
    pub(super) offset: usize,
    /// Index of the first frame.
    pub(super) index: u32,
}

/// Content of a chunk up to its end or its first bad frame.
#[derive(Default)]
pub(super) struct Opened {
    /// Sequence number of the first commit, if there is one.
    pub(super) first: Option<SeqNo>,
    /// Sequence number of the last commit, if there is one.
    pub(super) last: Option<SeqNo>,
    /// Number of changes decoded.
    pub(super) changes: usize,
    /// Newest change of each key.
    pub(super) newest: Run,
    /// Offset of the chunk in the file.
    pub(super) start: usize,
    /// Offset in the file after the last good frame.
    pub(super) end: usize,
    /// True if a frame that opened does not contain the commits that follow the previous ones.
    pub(super) is_broken: bool,
}

impl Frames {
    /// Returns the sealed range of the complete frame with this index at `at`.
    pub(super) fn frame_at(&self, bytes: &[u8], at: usize, index: u32) -> Option<Range<usize>> {
        let (found, sealed) = self.header_at(bytes, at)?;
        (found == index && sealed.end <= bytes.len()).then_some(sealed)
    }

    /// Returns the index and the sealed range of a frame at `at` that has a valid header but may be cut off.
    pub(super) fn header_at(&self, bytes: &[u8], at: usize) -> Option<(u32, Range<usize>)> {
        let header: &[u8; FRAME_HEADER_BYTES] = bytes.get(at..at + FRAME_HEADER_BYTES)?.try_into().ok()?;
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

    /// Returns whether a frame after the bad one at the beginning of `rest` opens. If so, the bad frame was complete
    /// once and is damaged.
    pub(super) fn good_frame_follows(&self, rest: &[u8]) -> bool {
        (1..rest.len()).any(|at| match self.header_at(rest, at) {
            Some((index, sealed)) if sealed.end <= rest.len() => {
                self.seal.open(u64::from(index), &mut rest[sealed].to_vec()).is_some()
            }
            _ => false,
        })
    }
}

impl Chunk {
    /// Opens the frames in place, decodes them, and keeps the newest change of each key that is not retired.
    pub(super) fn open(&mut self, frames: &Frames, manifest: &Manifest) -> Opened {
        let mut opened = Opened { start: self.offset, end: self.offset, ..Opened::default() };
        let mut changes: Vec<Change<'_>> = Vec::new();
        let (mut rest, mut index) = (&mut self.buffer[..self.length], self.index);
        while let Some(sealed) = frames.frame_at(rest, 0, index) {
            let (frame, after) = rest.split_at_mut(sealed.end);
            let Some(length) = frames.seal.open(u64::from(index), &mut frame[sealed.start..]) else { break };
            let frame: &[u8] = frame;
            if opened.add(&frame[sealed.start..][..length], manifest, &mut changes).is_none() {
                return Opened { is_broken: true, ..opened };
            }
            opened.end += frame.len();
            (rest, index) = (after, index + 1);
        }
        opened.changes = changes.len();
        opened.newest = Run::of(&changes);
        opened
    }
}

impl Opened {
    /// Adds the changes of a frame. Returns `None` if its payload is not valid, or not the one that comes next.
    fn add<'a>(&mut self, payload: &'a [u8], manifest: &Manifest, changes: &mut Vec<Change<'a>>) -> Option<()> {
        let payload = Payload::parse(payload)?;
        if payload.count > 0 {
            if self.last.is_some_and(|last| last.checked_add(1) != Some(payload.first)) {
                return None;
            }
            self.first.get_or_insert(payload.first);
            self.last = Some(payload.first.checked_add(SeqNo::from(payload.count - 1))?);
        }
        payload.decode(&mut |seqno, key, value| {
            if !manifest.is_retired(&key) {
                changes.push(Change { key, seqno, value });
            }
        })
    }
}

/// Payload of an opened frame. Its bytes may be arbitrary.
pub(in super::super) struct Payload<'a> {
    first: SeqNo,
    count: u32,
    batches: Reader<'a>,
}

impl<'a> Payload<'a> {
    pub(in super::super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut batches = Reader::new(bytes);
        Some(Payload { first: batches.u64()?, count: batches.u32()?, batches })
    }

    /// Returns the number of batches that the frame claims to contain.
    pub(in super::super) fn count(&self) -> u32 {
        self.count
    }

    /// Passes every change to `visit`, with the sequence number of its commit. Returns `None` if the bytes are not
    /// valid.
    pub(in super::super) fn decode(mut self, visit: batch::VisitChange<'_, 'a>) -> Option<()> {
        for position in 0..self.count {
            batch::decode_changes(&mut self.batches, self.first.checked_add(SeqNo::from(position))?, visit)?;
        }
        self.batches.is_empty().then_some(())
    }
}
