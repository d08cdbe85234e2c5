//! Keys in files that only their owner can read: of cursors and of encrypted fields.

pub(crate) mod cursor;
pub(crate) mod field;
