//! State shared by all tables: directory, keys, and bounded caches of open files and decrypted blocks.

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

/// Maximum number of open files.
const OPEN_FILES_MAX: usize = 256;
/// Initial capacity of the cache's own tables; they grow if needed.
const BLOCKS_EXPECTED: usize = 1024;
/// Approximate memory of a cached piece beside its bytes.
const PIECE_OVERHEAD_BYTES: u64 = 128;

/// Piece of a table, decrypted and checked.
#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Block(Arc<Block>),
    Filter(Arc<Filter>),
}

/// Table number and offset of a piece in the file.
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

/// State shared by the tables of one store.
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

    /// Returns the seed of the filters' hashes.
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

    /// Returns the open file of a table; opens it again if the cache has dropped it.
    pub(crate) fn handle(&self, number: u64) -> Result<Arc<dyn DiskFile>, StoreError> {
        if let Some(handle) = self.handles.get(&number) {
            return Ok(handle);
        }
        let name = FileKind::Table.file_name(number);
        let handle = self.disk.open(&name).map_err(|error| StoreError::io("open", &name, error))?;
        self.handles.insert(number, handle.clone());
        Ok(handle)
    }

    /// Deletes a table file that no reader uses. If that fails, the next opening deletes it.
    pub(crate) fn remove(&self, number: u64) {
        self.handles.remove(&number);
        drop(self.disk.remove(&FileKind::Table.file_name(number)));
    }
}
