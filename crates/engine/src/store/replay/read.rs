//! Reading a journal segment in chunks of whole frames.
//!
//! ```text
//! file    header frame frame frame frame fra00000000
//! chunks         └── 1 ────┘
//!                            └── 2 ────┘
//! ```
//!
//! A frame that a chunk cuts off is read again as the first one of the next chunk, so chunks are independent of each
//! other. A frame that is larger than a chunk is a chunk of its own.

use std::io;
use std::sync::Arc;

use super::super::disk::{Disk, DiskFile};
use super::super::error::StoreError;
use super::super::header::HEADER_BYTES;
use super::chunk::{Chunk, Frames};

/// File of a segment.
pub(super) struct Segment {
    pub(super) name: String,
    pub(super) size: usize,
    file: Arc<dyn DiskFile>,
}

impl Segment {
    pub(super) fn open(disk: &dyn Disk, name: String) -> Result<Self, StoreError> {
        let failed = |error| StoreError::io("read the journal", &name, error);
        let file = disk.open(&name).map_err(failed)?;
        let size = file.size().map_err(failed)?;
        let size = usize::try_from(size).map_err(|_| failed(io::ErrorKind::FileTooLarge.into()))?;
        Ok(Segment { name, size, file })
    }

    /// Closes the file; returns its name.
    pub(super) fn close(self) -> String {
        self.name
    }

    fn read_at(&self, buffer: &mut [u8], offset: usize) -> Result<(), StoreError> {
        let failed = |error| StoreError::io("read the journal", &self.name, error);
        self.file.read_at(buffer, offset as u64).map_err(failed)
    }

    /// Reads from `offset` to the end, or up to `bytes_max` bytes.
    pub(super) fn read_from(&self, offset: usize, bytes_max: usize) -> Result<Vec<u8>, StoreError> {
        let mut content = vec![0; self.size.saturating_sub(offset).min(bytes_max)];
        self.read_at(&mut content, offset)?;
        Ok(content)
    }

    /// Cuts off a torn end, and syncs data that a killed process may have written without a sync.
    pub(super) fn make_durable(&self, end: usize) -> Result<(), StoreError> {
        let failed = |error| StoreError::io("cut off the torn end of", &self.name, error);
        if end < self.size {
            self.file.truncate(end as u64).map_err(failed)?;
        }
        self.file.sync().map_err(failed)
    }
}

/// Reader of the chunks of a segment.
pub(super) struct Chunks<'a> {
    file: &'a Segment,
    frames: &'a Frames,
    chunk_bytes: usize,
    /// Offset of the next frame in the file.
    at: usize,
    /// Index of the next frame.
    index: u32,
}

impl<'a> Chunks<'a> {
    pub(super) fn new(file: &'a Segment, frames: &'a Frames, chunk_bytes: usize) -> Self {
        Chunks { file, frames, chunk_bytes, at: HEADER_BYTES, index: 0 }
    }

    /// Reads the next chunk into `buffer`. Returns `None` if no whole frame follows.
    pub(super) fn next(&mut self, mut buffer: Vec<u8>) -> Result<Option<Chunk>, StoreError> {
        let read = self.read(&mut buffer, self.chunk_bytes)?;
        let (mut length, mut index) = self.whole_frames(&buffer[..read]);
        if length == 0
            && let Some(frame_bytes) = self.frame_bytes(&buffer[..read])
        {
            (length, index) = (self.read(&mut buffer, frame_bytes)?, self.index + 1);
        }
        let chunk = Chunk { buffer, length, offset: self.at, index: self.index };
        (self.at, self.index) = (self.at + length, index);
        Ok((length > 0).then_some(chunk))
    }

    /// Reads up to `bytes` bytes from the next frame on; returns their number.
    fn read(&self, buffer: &mut Vec<u8>, bytes: usize) -> Result<usize, StoreError> {
        let bytes = bytes.min(self.left());
        if buffer.len() < bytes {
            buffer.resize(bytes, 0);
        }
        self.file.read_at(&mut buffer[..bytes], self.at)?;
        Ok(bytes)
    }

    /// Returns the length of the whole frames at the beginning of `bytes`, and the index of the frame after them.
    fn whole_frames(&self, bytes: &[u8]) -> (usize, u32) {
        let (mut at, mut index) = (0, self.index);
        while let Some(sealed) = self.frames.frame_at(bytes, at, index) {
            (at, index) = (sealed.end, index + 1);
        }
        (at, index)
    }

    /// Returns the length of the next frame, if the file contains all of it.
    fn frame_bytes(&self, bytes: &[u8]) -> Option<usize> {
        let (index, sealed) = self.frames.header_at(bytes, 0)?;
        (index == self.index && sealed.end <= self.left()).then_some(sealed.end)
    }

    fn left(&self) -> usize {
        self.file.size.saturating_sub(self.at)
    }
}
