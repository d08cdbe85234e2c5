//! Table files: sorted, immutable, sealed block by block.
//!
//! ```text
//! table = header  data block*  index block*  root block  filter
//! ```
//!
//! A data block contains entries. An index block contains the last key and the location of each of its data blocks; the
//! root block does the same for index blocks. The manifest has the locations of the root and the filter. The offset of
//! a piece is its nonce, so no piece can be moved.

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
