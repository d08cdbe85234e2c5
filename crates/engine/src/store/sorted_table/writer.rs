//! Table writer: takes entries in key order.

use std::sync::Arc;

use bytes::Bytes;

use super::super::batch::SeqNo;
use super::super::disk::DiskFile;
use super::super::error::StoreError;
use super::super::header::{FileHeader, FileKind};
use super::super::manifest::{PieceLocation, TableMeta};
use super::super::seal::Seal;
use super::block::BlockBuilder;
use super::cache::TableFiles;
use super::filter::{Filter, key_hash};

/// Sealed pieces are collected into writes of about this size.
const WRITE_BYTES: usize = 256 << 10;
/// Target size of index blocks: small enough to read quickly, large enough to keep the root small.
const INDEX_BLOCK_BYTES: usize = 8 << 10;

/// Options for writing tables.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableStyle {
    pub(crate) block_bytes: usize,
    pub(crate) compression: bool,
}

/// Table being written. An unfinished file is deleted on drop, or by the next opening after a crash.
#[derive(Debug)]
pub(crate) struct TableWriter {
    files: Arc<TableFiles>,
    /// True when the file is complete and no longer deleted on drop.
    finished: bool,
    sink: Sink,
    style: TableStyle,
    header: FileHeader,
    hash_seed: u64,
    data: BlockBuilder,
    index: BlockBuilder,
    root: BlockBuilder,
    hashes: Vec<u64>,
    smallest: Option<Bytes>,
    last_key: Vec<u8>,
    entries: u64,
    tombstones: u64,
}

impl TableWriter {
    pub(crate) fn create(files: &Arc<TableFiles>, number: u64, style: TableStyle) -> Result<Self, StoreError> {
        let header = FileHeader::new(&files.vault, FileKind::Table, number, files.store_id);
        let name = FileKind::Table.file_name(number);
        let file = files.disk.create(&name).map_err(|error| StoreError::io("create", &name, error))?;
        let sink = Sink { file, name, seal: header.seal(&files.vault)?, buffer: header.encode(), written: 0 };
        Ok(TableWriter {
            files: files.clone(),
            finished: false,
            sink,
            style,
            header,
            hash_seed: files.hash_seed(),
            data: BlockBuilder::default(),
            index: BlockBuilder::default(),
            root: BlockBuilder::default(),
            hashes: Vec::new(),
            smallest: None,
            last_key: Vec::new(),
            entries: 0,
            tombstones: 0,
        })
    }

    /// Adds an entry. Keys must ascend; versions of a key come newest first.
    pub(crate) fn add(&mut self, key: &[u8], seqno: SeqNo, value: Option<&[u8]>) -> Result<(), StoreError> {
        let older = self.entries > 0 && self.last_key == key;
        if !older {
            self.begin_key(key);
        }
        self.data.add(key, seqno, value, older);
        self.entries += 1;
        self.tombstones += u64::from(value.is_none());
        if self.data.bytes() >= self.style.block_bytes {
            self.end_data_block()?;
        }
        Ok(())
    }

    /// Returns the approximate size so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.sink.offset() + self.data.bytes() as u64
    }

    /// Writes the index and the filter, syncs the file and returns its metadata. The file's name is not durable yet.
    pub(crate) fn finish(mut self) -> Result<TableMeta, StoreError> {
        self.end_data_block()?;
        self.end_index_block()?;
        let root = self.sink.put_block(&mut self.root, false)?;
        let filter = self.sink.put(&Filter::build(&self.hashes), false)?;
        let size = self.sink.finish()?;
        self.finished = true;
        Ok(TableMeta {
            number: self.header.number,
            size,
            root,
            filter,
            entries: self.entries,
            tombstones: self.tombstones,
            key_id: self.header.key_id,
            smallest: self.smallest.take().unwrap_or_default(),
            largest: Bytes::from(std::mem::take(&mut self.last_key)),
        })
    }

    fn begin_key(&mut self, key: &[u8]) {
        self.hashes.push(key_hash(self.hash_seed, key));
        self.smallest.get_or_insert_with(|| Bytes::copy_from_slice(key));
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
    }

    fn end_data_block(&mut self) -> Result<(), StoreError> {
        if self.data.is_empty() {
            return Ok(());
        }
        let place = self.sink.put_block(&mut self.data, self.style.compression)?;
        add_place(&mut self.index, &self.last_key, place);
        if self.index.bytes() >= INDEX_BLOCK_BYTES {
            self.end_index_block()?;
        }
        Ok(())
    }

    fn end_index_block(&mut self) -> Result<(), StoreError> {
        if self.index.is_empty() {
            return Ok(());
        }
        let place = self.sink.put_block(&mut self.index, self.style.compression)?;
        add_place(&mut self.root, &self.last_key, place);
        Ok(())
    }
}

impl Drop for TableWriter {
    fn drop(&mut self) {
        if !self.finished {
            self.files.remove(self.header.number);
        }
    }
}

fn add_place(builder: &mut BlockBuilder, last_key: &[u8], place: PieceLocation) {
    let mut value = Vec::with_capacity(12);
    place.encode(&mut value);
    builder.add(last_key, 0, Some(&value), false);
}

/// Seals pieces and writes them one after the other.
#[derive(Debug)]
struct Sink {
    file: Arc<dyn DiskFile>,
    name: String,
    seal: Seal,
    buffer: Vec<u8>,
    written: u64,
}

impl Sink {
    fn offset(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    fn put_block(&mut self, builder: &mut BlockBuilder, compress: bool) -> Result<PieceLocation, StoreError> {
        let place = self.put(builder.finish(), compress);
        builder.clear();
        place
    }

    fn put(&mut self, content: &[u8], compress: bool) -> Result<PieceLocation, StoreError> {
        let offset = self.offset();
        let start = self.buffer.len();
        match compress.then(|| lz4_flex::block::compress_prepend_size(content)) {
            Some(packed) if packed.len() < content.len() - content.len() / 8 => {
                self.buffer.push(1);
                self.buffer.extend_from_slice(&packed);
            }
            _ => {
                self.buffer.push(0);
                self.buffer.extend_from_slice(content);
            }
        }
        self.seal.close(offset, &mut self.buffer, start)?;
        let bytes = u32::try_from(self.buffer.len() - start).map_err(|_| StoreError::BatchTooLarge)?;
        if self.buffer.len() >= WRITE_BYTES {
            self.write_out()?;
        }
        Ok(PieceLocation { offset, bytes })
    }

    fn write_out(&mut self) -> Result<(), StoreError> {
        let written = self.file.write_at(&self.buffer, self.written);
        written.map_err(|error| StoreError::io("write", &self.name, error))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    fn finish(&mut self) -> Result<u64, StoreError> {
        self.write_out()?;
        // The manifest does not name the file yet, so a sync that fails for lack of space is not final: the flush or
        // compaction writes another file (ADR 0029).
        self.file.sync().map_err(|error| StoreError::io("sync", &self.name, error))?;
        Ok(self.written)
    }
}
