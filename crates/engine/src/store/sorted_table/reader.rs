//! Table reader: looks up a key through filter, root, index and data block.

use std::ops::Bound;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use super::super::batch::SeqNo;
use super::super::codec::Reader;
use super::super::error::StoreError;
use super::super::header::{FileHeader, FileKind, HEADER_BYTES};
use super::super::manifest::{PieceLocation, TableMeta};
use super::super::seal::Seal;
use super::block::{Block, Entry};
use super::cache::{Piece, TableFiles};
use super::filter::Filter;

/// Maximum ratio of decompressed to sealed size; LZ4 cannot exceed it, so a larger one is damage.
const EXPANSION_MAX: usize = 256;

/// Immutable table. Opened on first read. Its file is deleted when it is obsolete and the last reference is dropped.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) meta: Arc<TableMeta>,
    files: Arc<TableFiles>,
    opened: OnceLock<Opened>,
    obsolete: AtomicBool,
}

#[derive(Debug)]
struct Opened {
    seal: Seal,
    root: Block,
}

impl Table {
    pub(crate) fn new(meta: Arc<TableMeta>, files: Arc<TableFiles>) -> Self {
        Table { meta, files, opened: OnceLock::new(), obsolete: AtomicBool::new(false) }
    }

    /// Marks the table as no longer in the manifest.
    pub(crate) fn make_obsolete(&self) {
        self.obsolete.store(true, Ordering::Release);
    }

    /// Returns whether `key` lies between the table's first and last key.
    pub(crate) fn covers(&self, key: &[u8]) -> bool {
        self.meta.smallest.as_ref() <= key && key <= self.meta.largest.as_ref()
    }

    /// Returns the newest version of `key` visible at `seqno`: `None` if absent, `Some(None)` if deleted.
    pub(crate) fn get(&self, key: &[u8], hash: u64, seqno: SeqNo) -> Result<Option<Option<Bytes>>, StoreError> {
        if !self.filter()?.may_hold(hash) {
            self.files.skips.fetch_add(1, Ordering::Relaxed);
            return Ok(None);
        }
        let mut place = self.first_block(Bound::Included(key))?;
        while let Some(at) = place {
            let block = self.block(self.place_at(&at)?, true)?;
            for index in block.lower(Bound::Included(key))..block.count() {
                let entry = block.entry(index);
                if block.key_of(&entry) != key {
                    return Ok(None);
                }
                if entry.seqno <= seqno {
                    return Ok(Some(block.value_bytes(&entry)));
                }
            }
            place = self.next_block(at)?;
        }
        Ok(None)
    }

    /// Returns the location of the first data block that may hold keys from `lower` on.
    pub(crate) fn first_block(&self, lower: Bound<&[u8]>) -> Result<Option<BlockAt>, StoreError> {
        let root = self.root()?;
        let partition = root.lower(lower);
        if partition >= root.count() {
            return Ok(None);
        }
        let index = self.index_block(root, partition)?;
        let position = index.lower(lower);
        Ok((position < index.count()).then_some(BlockAt { partition, index, position }))
    }

    /// Returns the location of the last data block that may hold keys up to `upper`.
    pub(crate) fn last_block(&self, upper: Bound<&[u8]>) -> Result<BlockAt, StoreError> {
        // Keys up to the bound end in the first block whose last key is beyond it, or else in the last block.
        let root = self.root()?;
        let partition = root.upper(upper).min(root.count() - 1);
        let index = self.index_block(root, partition)?;
        let position = index.upper(upper).min(index.count() - 1);
        Ok(BlockAt { partition, index, position })
    }

    pub(crate) fn next_block(&self, at: BlockAt) -> Result<Option<BlockAt>, StoreError> {
        let BlockAt { partition, index, position } = at;
        if position + 1 < index.count() {
            return Ok(Some(BlockAt { partition, index, position: position + 1 }));
        }
        let root = self.root()?;
        if partition + 1 >= root.count() {
            return Ok(None);
        }
        let index = self.index_block(root, partition + 1)?;
        Ok(Some(BlockAt { partition: partition + 1, index, position: 0 }))
    }

    pub(crate) fn previous_block(&self, at: BlockAt) -> Result<Option<BlockAt>, StoreError> {
        let BlockAt { partition, index, position } = at;
        if position > 0 {
            return Ok(Some(BlockAt { partition, index, position: position - 1 }));
        }
        if partition == 0 {
            return Ok(None);
        }
        let index = self.index_block(self.root()?, partition - 1)?;
        let position = index.count() - 1;
        Ok(Some(BlockAt { partition: partition - 1, index, position }))
    }

    /// Returns the data block that an index entry refers to. `keep` adds it to the cache.
    pub(crate) fn data_block(&self, at: &BlockAt, keep: bool) -> Result<Arc<Block>, StoreError> {
        self.block(self.place_at(at)?, keep)
    }

    fn place_at(&self, at: &BlockAt) -> Result<PieceLocation, StoreError> {
        self.place(&at.index, &at.index.entry(at.position))
    }

    fn index_block(&self, root: &Block, partition: usize) -> Result<Arc<Block>, StoreError> {
        self.block(self.place(root, &root.entry(partition))?, true)
    }

    fn place(&self, block: &Block, entry: &Entry) -> Result<PieceLocation, StoreError> {
        PieceLocation::decode(&mut Reader::new(block.value_of(entry)))
            .ok_or_else(|| self.damaged("an index entry has no position"))
    }

    fn root(&self) -> Result<&Block, StoreError> {
        Ok(&self.opened()?.root)
    }

    fn filter(&self) -> Result<Arc<Filter>, StoreError> {
        let key = (self.meta.number, self.meta.filter.offset);
        if let Some(Piece::Filter(filter)) = self.files.cached(&key) {
            return Ok(filter);
        }
        let content = self.read_piece(&self.opened()?.seal, self.meta.filter)?;
        let filter = Filter::parse(content).ok_or_else(|| self.damaged("the filter is invalid"))?;
        let filter = Arc::new(filter);
        self.files.keep(key, Piece::Filter(filter.clone()));
        Ok(filter)
    }

    fn block(&self, place: PieceLocation, keep: bool) -> Result<Arc<Block>, StoreError> {
        let key = (self.meta.number, place.offset);
        if let Some(Piece::Block(block)) = self.files.cached(&key) {
            return Ok(block);
        }
        let block = Arc::new(self.read_block(&self.opened()?.seal, place)?);
        if keep {
            self.files.keep(key, Piece::Block(block.clone()));
        }
        Ok(block)
    }

    fn opened(&self) -> Result<&Opened, StoreError> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let opened = self.open()?;
        Ok(self.opened.get_or_init(|| opened))
    }

    fn open(&self) -> Result<Opened, StoreError> {
        let name = self.name();
        let mut bytes = [0; HEADER_BYTES];
        let handle = self.files.handle(self.meta.number)?;
        handle.read_at(&mut bytes, 0).map_err(|error| StoreError::io("read", &name, error))?;
        let header = FileHeader::decode(&bytes, &name, FileKind::Table, self.meta.number)?;
        if header.store_id != self.files.store_id {
            return Err(self.damaged("it belongs to another store"));
        }
        let seal = header.seal(&self.files.vault)?;
        let root = self.read_block(&seal, self.meta.root)?;
        Ok(Opened { seal, root })
    }

    fn read_block(&self, seal: &Seal, place: PieceLocation) -> Result<Block, StoreError> {
        Block::parse(self.read_piece(seal, place)?).ok_or_else(|| self.damaged("a block is invalid"))
    }

    fn read_piece(&self, seal: &Seal, place: PieceLocation) -> Result<Bytes, StoreError> {
        let mut piece = vec![0; place.bytes as usize];
        let handle = self.files.handle(self.meta.number)?;
        handle.read_at(&mut piece, place.offset).map_err(|error| StoreError::io("read", &self.name(), error))?;
        self.files.reads.fetch_add(1, Ordering::Relaxed);
        let length = seal.open(place.offset, &mut piece);
        let length =
            length.ok_or_else(|| self.damaged(&format!("the piece at byte {} cannot be decrypted", place.offset)))?;
        piece.truncate(length);
        unpack(piece).ok_or_else(|| self.damaged("a block cannot be decompressed"))
    }

    fn damaged(&self, what: &str) -> StoreError {
        StoreError::corrupt(&self.name(), what)
    }

    fn name(&self) -> String {
        FileKind::Table.file_name(self.meta.number)
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if self.obsolete.load(Ordering::Acquire) {
            self.files.remove(self.meta.number);
        }
    }
}

/// Decompresses a piece, which may be arbitrary bytes; the first byte names the compression.
pub(crate) fn unpack(piece: Vec<u8>) -> Option<Bytes> {
    match piece.first()? {
        0 => Some(Bytes::from(piece).slice(1..)),
        1 => {
            let length = Reader::new(&piece[1..]).u32()? as usize;
            if length > piece.len().checked_mul(EXPANSION_MAX)? {
                return None;
            }
            lz4_flex::block::decompress_size_prepended(&piece[1..]).ok().map(Bytes::from)
        }
        _ => None,
    }
}

/// Position of a data block in the index.
#[derive(Debug)]
pub(crate) struct BlockAt {
    partition: usize,
    index: Arc<Block>,
    position: usize,
}
