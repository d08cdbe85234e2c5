//! What tables share: the directory, the keys, open files and decrypted blocks, both bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::super::disk::{Disk, DiskFile};
use super::super::error::StoreError;
use super::super::header::{FileKind, StoreId};
use super::super::seal::Vault;
use super::block::Block;
use super::filter::Filter;

/// The most files kept open.
const OPEN_FILES_MAX: usize = 256;
/// A guess that sizes the cache's own tables; they grow where needed.
const BLOCKS_EXPECTED: usize = 1024;
/// What a cached piece costs beside its bytes, roughly.
const PIECE_OVERHEAD_BYTES: u64 = 128;

/// A piece of a table, opened and checked.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Block(Arc<Block>),
    Filter(Arc<Filter>),
}

/// A table's number and the offset of a piece in it.
pub(crate) type PieceKey = (u64, u64);

#[derive(Debug, Clone)]
struct PieceWeight;

impl Weighter<PieceKey, Piece> for PieceWeight {
    fn weight(&self, _key: &PieceKey, piece: &Piece) -> u64 {
        PIECE_OVERHEAD_BYTES
            + match piece {
                Piece::Block(block) => block.bytes() as u64,
                Piece::Filter(filter) => filter.bytes() as u64,
            }
    }
}

/// What the tables of one store share.
#[derive(Debug)]
pub(crate) struct TableFiles {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) vault: Vault,
    pub(crate) store_id: StoreId,
    pieces: Cache<PieceKey, Piece, PieceWeight>,
    handles: Cache<u64, Arc<dyn DiskFile>>,
    pub(crate) hits: AtomicU64,
    pub(crate) reads: AtomicU64,
    pub(crate) skips: AtomicU64,
}

impl TableFiles {
    pub(crate) fn new(disk: Arc<dyn Disk>, vault: Vault, store_id: StoreId, cache_bytes: usize) -> Self {
        TableFiles {
            disk,
            vault,
            store_id,
            pieces: Cache::with_weighter(BLOCKS_EXPECTED, cache_bytes as u64, PieceWeight),
            handles: Cache::new(OPEN_FILES_MAX),
            hits: AtomicU64::new(0),
            reads: AtomicU64::new(0),
            skips: AtomicU64::new(0),
        }
    }

    /// The seed of the filters' hashes.
    pub(crate) fn hash_seed(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.store_id;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    pub(crate) fn cached(&self, key: &PieceKey) -> Option<Piece> {
        let piece = self.pieces.get(key)?;
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(piece)
    }

    pub(crate) fn keep(&self, key: PieceKey, piece: Piece) {
        self.pieces.insert(key, piece);
    }

    pub(crate) fn cached_bytes(&self) -> u64 {
        self.pieces.weight()
    }

    /// The open file of a table, opened again when it was closed for others.
    pub(crate) fn handle(&self, number: u64) -> Result<Arc<dyn DiskFile>, StoreError> {
        if let Some(handle) = self.handles.get(&number) {
            return Ok(handle);
        }
        let name = FileKind::Table.file_name(number);
        let handle = self.disk.open(&name).map_err(|error| StoreError::io("open", &name, error))?;
        self.handles.insert(number, handle.clone());
        Ok(handle)
    }

    /// Removes a table that nobody reads any more. A failure leaves a file that the next opening removes.
    pub(crate) fn remove(&self, number: u64) {
        self.handles.remove(&number);
        drop(self.disk.remove(&FileKind::Table.file_name(number)));
    }
}
