//! Table files: sorted, immutable, sealed block by block.
//!
//! ```text
//! table = header  data block*  index block*  root block  filter
//! ```
//!
//! A data block holds entries; an index block holds, for each data block, its last key and its place; the root block
//! does the same for the index blocks. The manifest knows where the root and the filter are. Each piece is sealed with
//! its offset as the place, so none can be moved.

mod block;
mod cache;
mod cursor;
mod filter;
mod reader;
mod writer;

pub(super) use block::Block;
pub(super) use cache::TableFiles;
pub(super) use cursor::{LevelCursor, RawCursor, RawEntry, Run};
pub(super) use filter::key_hash;
pub(super) use reader::{Table, unpack};
pub(super) use writer::{TableStyle, TableWriter};
