//! File header: the first 84 bytes of every file, unencrypted. Contains the file's kind, its key id and its salt.
//!
//! ```text
//! magic:8 format:u32 kind:u8 flags:u8 zero:u16 key_id:u32 number:u64 store_id:16 salt:32 checksum:u64
//! ```
//!
//! The layout is the same in all format versions, so that an old program can recognize a newer file.

use twox_hash::XxHash64;

use super::codec::Reader;
use super::error::StoreError;
use super::seal::{Salt, Seal, Vault};

/// Format version that this program writes, and the newest that it reads.
pub(super) const FORMAT_VERSION: u32 = 1;
pub(super) const HEADER_BYTES: usize = 84;
const CHECKED_BYTES: usize = HEADER_BYTES - 8;
const MAGIC: &[u8; 8] = b"KEYFORM\n";

/// Random id of a store, in all its files, to detect files of another store.
pub(super) type StoreId = [u8; 16];

/// Type of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Manifest = 1,
    Journal = 2,
    Table = 3,
}

impl FileKind {
    /// Returns the name of the file with this kind and number.
    pub(super) fn file_name(self, number: u64) -> String {
        match self {
            FileKind::Manifest => "MANIFEST".to_owned(),
            FileKind::Journal => format!("{number:010}.journal"),
            FileKind::Table => format!("{number:010}.table"),
        }
    }

    /// Parses the kind and number from a file name.
    pub(super) fn of_name(name: &str) -> Option<(FileKind, u64)> {
        let (stem, extension) = name.split_once('.')?;
        let number = stem.parse().ok()?;
        match extension {
            "journal" => Some((FileKind::Journal, number)),
            "table" => Some((FileKind::Table, number)),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileHeader {
    pub(super) kind: FileKind,
    pub(super) flags: u8,
    pub(super) key_id: u32,
    pub(super) number: u64,
    pub(super) store_id: StoreId,
    pub(super) salt: Salt,
}

impl FileHeader {
    /// Creates the header of a new file, with a random salt and the current key.
    pub(super) fn new(vault: &Vault, kind: FileKind, number: u64, store_id: StoreId) -> Self {
        FileHeader { kind, flags: 0, key_id: vault.current_key_id(), number, store_id, salt: vault.random() }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        out.extend_from_slice(&[self.kind as u8, self.flags, 0, 0]);
        out.extend_from_slice(&self.key_id.to_le_bytes());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.store_id);
        out.extend_from_slice(&self.salt);
        let checksum = XxHash64::oneshot(0, &out);
        out.extend_from_slice(&checksum.to_le_bytes());
        out
    }

    /// Decodes the header of the file called `name` and checks that it matches the name's kind and number.
    pub(super) fn decode(bytes: &[u8], name: &str, kind: FileKind, number: u64) -> Result<Self, StoreError> {
        let damaged = |what: &str| StoreError::corrupt(name, what);
        let bytes = bytes.get(..HEADER_BYTES).ok_or_else(|| damaged("shorter than a header"))?;
        let (format, header) = parse(bytes).ok_or_else(|| damaged("the header's checksum does not match"))?;
        if format > FORMAT_VERSION {
            return Err(StoreError::Newer { found: format, supported: FORMAT_VERSION });
        }
        match header {
            Some(header) if header.kind == kind && header.number == number => Ok(header),
            _ => Err(damaged("the header belongs to another file")),
        }
    }

    /// Returns the seal of this file's pieces. It opens them only if the header is unchanged.
    pub(super) fn seal(&self, vault: &Vault) -> Result<Seal, StoreError> {
        vault.seal(self.key_id, &self.salt, &self.encode()[..CHECKED_BYTES])
    }
}

fn parse(bytes: &[u8]) -> Option<(u32, Option<FileHeader>)> {
    let mut reader = Reader::new(bytes);
    let magic: [u8; 8] = reader.array()?;
    let format = reader.u32()?;
    let [kind, flags, _, _] = reader.array()?;
    let (key_id, number) = (reader.u32()?, reader.u64()?);
    let (store_id, salt) = (reader.array()?, reader.array()?);
    let checksum = reader.u64()?;
    if &magic != MAGIC || checksum != XxHash64::oneshot(0, bytes.get(..CHECKED_BYTES)?) {
        return None;
    }
    let kind = [FileKind::Manifest, FileKind::Journal, FileKind::Table].into_iter().find(|known| *known as u8 == kind);
    Some((format, kind.map(|kind| FileHeader { kind, flags, key_id, number, store_id, salt })))
}
