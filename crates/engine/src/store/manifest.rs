//! The manifest: the list of files that make up the store. It is small and replaced atomically as a whole (ADR 0001).
//!
//! ```text
//! manifest = header  key check:sealed(16 zero bytes)  checksum of the key check:u64  sealed(body)
//! body     = last sequence number, next file number, first journal segment  (varints)
//!            retired: count, (segment, prefix)*
//!            levels: count, (count, table*)*
//!            sequence number that the journal must reach, number of the newest journal segment
//! table    = number size root_offset root_bytes filter_offset filter_bytes entries tombstones key_id  smallest largest
//! ```
//!
//! The key check distinguishes a wrong key from damage: if its checksum matches but it does not open, the key is wrong.

use std::sync::Arc;

use bytes::Bytes;
use twox_hash::XxHash64;

use super::batch::SeqNo;
use super::codec::{Reader, put_bytes, put_varint};
use super::disk::{Disk, read_whole};
use super::error::StoreError;
use super::header::{FileHeader, FileKind, HEADER_BYTES, StoreId};
use super::seal::{TAG_BYTES, Vault, wrong_key};

pub(super) const MANIFEST_NAME: &str = "MANIFEST";
pub(super) const MANIFEST_NEXT_NAME: &str = "MANIFEST.next";
const KEY_CHECK_BYTES: usize = 16;
const BODY_START: usize = HEADER_BYTES + KEY_CHECK_BYTES + TAG_BYTES + 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) store_id: StoreId,
    /// Every commit up to this one is in tables.
    pub(super) last_seqno: SeqNo,
    pub(super) next_number: u64,
    /// Segments before this one are no longer needed.
    pub(super) first_segment: u64,
    pub(super) retired: Vec<Retired>,
    pub(super) levels: Vec<Vec<Arc<TableMeta>>>,
    /// Every commit up to this one is in tables or in the journal. If the journal ends earlier, part of it is lost.
    pub(super) reached_seqno: SeqNo,
    /// Newest segment that may contain frames. If it is needed but missing, commits are lost. 0 if there was no segment
    /// yet or an older program wrote the manifest.
    pub(super) newest_segment: u64,
}

/// Prefix whose keys are deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Retired {
    pub(super) prefix: Bytes,
    /// Journal segments after this one contain no such keys.
    pub(super) segment: u64,
}

/// Metadata of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableMeta {
    pub(super) number: u64,
    pub(super) size: u64,
    pub(super) root: PieceLocation,
    pub(super) filter: PieceLocation,
    pub(super) entries: u64,
    pub(super) tombstones: u64,
    pub(super) key_id: u32,
    pub(super) smallest: Bytes,
    pub(super) largest: Bytes,
}

/// Location of a sealed piece in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PieceLocation {
    pub(super) offset: u64,
    pub(super) bytes: u32,
}

impl Manifest {
    /// Creates the manifest of a new store.
    pub(super) fn new(vault: &Vault) -> Self {
        Manifest {
            store_id: vault.random(),
            last_seqno: 0,
            next_number: 1,
            first_segment: 0,
            retired: Vec::new(),
            levels: Vec::new(),
            reached_seqno: 0,
            newest_segment: 0,
        }
    }

    /// Reads the manifest; rewrites it if it is sealed under an older key.
    pub(super) fn load(disk: &dyn Disk, vault: &Vault) -> Result<Self, StoreError> {
        let failed = |error| StoreError::io("read", MANIFEST_NAME, error);
        let bytes = read_whole(disk, MANIFEST_NAME).map_err(failed)?;
        let (manifest, key_id) = Manifest::open(bytes, vault)?;
        if key_id != vault.current_key_id() {
            manifest.save(disk, vault)?;
        }
        Ok(manifest)
    }

    /// Replaces the manifest on disk, durably.
    pub(super) fn save(&self, disk: &dyn Disk, vault: &Vault) -> Result<(), StoreError> {
        let bytes = self.close(vault)?;
        let failed = |error| StoreError::io("write", MANIFEST_NAME, error);
        let file = disk.create(MANIFEST_NEXT_NAME).map_err(failed)?;
        file.write_at(&bytes, 0).map_err(failed)?;
        file.sync().map_err(failed)?;
        disk.rename(MANIFEST_NEXT_NAME, MANIFEST_NAME).map_err(failed)?;
        // Up to here nothing has changed and everything can be retried. From here on, a power cut may leave either
        // manifest, so a failed sync is final (ADR 0029).
        disk.sync_dir().map_err(|error| StoreError::sync(&disk.place(), error))
    }

    fn close(&self, vault: &Vault) -> Result<Vec<u8>, StoreError> {
        let header = FileHeader::new(vault, FileKind::Manifest, 0, self.store_id);
        let seal = header.seal(vault)?;
        let mut out = header.encode();
        out.extend_from_slice(&[0; KEY_CHECK_BYTES]);
        seal.close(0, &mut out, HEADER_BYTES)?;
        let checksum = XxHash64::oneshot(0, &out[HEADER_BYTES..]);
        out.extend_from_slice(&checksum.to_le_bytes());
        self.encode(&mut out);
        seal.close(1, &mut out, BODY_START)?;
        Ok(out)
    }

    fn open(mut bytes: Vec<u8>, vault: &Vault) -> Result<(Self, u32), StoreError> {
        let damaged = |what: &str| StoreError::corrupt(MANIFEST_NAME, what);
        let header = FileHeader::decode(&bytes, MANIFEST_NAME, FileKind::Manifest, 0)?;
        let (front, body) = bytes.split_at_mut_checked(BODY_START).ok_or_else(|| damaged("it is truncated"))?;
        let (key_check, checksum) = front[HEADER_BYTES..].split_at_mut(KEY_CHECK_BYTES + TAG_BYTES);
        if XxHash64::oneshot(0, key_check).to_le_bytes() != *checksum {
            return Err(damaged("the checksum of the key check does not match"));
        }
        let seal = header.seal(vault)?;
        if seal.open(0, key_check).is_none() {
            return Err(wrong_key("the data was created with another master key: use that one"));
        }
        let length = seal.open(1, body).ok_or_else(|| damaged("its body cannot be decrypted"))?;
        let manifest = decode(&body[..length], header.store_id).ok_or_else(|| damaged("its body is invalid"))?;
        Ok((manifest, header.key_id))
    }

    /// Returns whether a key has a retired prefix.
    pub(super) fn is_retired(&self, key: &[u8]) -> bool {
        self.retired.iter().any(|retired| key.starts_with(&retired.prefix))
    }

    pub(super) fn retired_prefixes(&self) -> Vec<Bytes> {
        self.retired.iter().map(|retired| retired.prefix.clone()).collect()
    }

    fn encode(&self, out: &mut Vec<u8>) {
        for number in [self.last_seqno, self.next_number, self.first_segment, self.retired.len() as u64] {
            put_varint(out, number);
        }
        for retired in &self.retired {
            put_varint(out, retired.segment);
            put_bytes(out, &retired.prefix);
        }
        put_varint(out, self.levels.len() as u64);
        for level in &self.levels {
            put_varint(out, level.len() as u64);
            for table in level {
                table.encode(out);
            }
        }
        put_varint(out, self.reached_seqno);
        put_varint(out, self.newest_segment);
    }
}

/// Decodes a manifest's body, which may be arbitrary bytes.
pub(super) fn decode(body: &[u8], store_id: StoreId) -> Option<Manifest> {
    let mut reader = Reader::new(body);
    let (last_seqno, next_number, first_segment) = (reader.varint()?, reader.varint()?, reader.varint()?);
    let mut retired = Vec::new();
    for _ in 0..reader.varint()? {
        let segment = reader.varint()?;
        retired.push(Retired { segment, prefix: Bytes::copy_from_slice(reader.bytes()?) });
    }
    let mut levels = Vec::new();
    for _ in 0..reader.varint()? {
        levels.push(decode_level(&mut reader)?);
    }
    // Manifests of older versions end here.
    let reached_seqno = if reader.is_empty() { last_seqno } else { reader.varint()? };
    let newest_segment = if reader.is_empty() { 0 } else { reader.varint()? };
    let manifest =
        Manifest { store_id, last_seqno, next_number, first_segment, retired, levels, reached_seqno, newest_segment };
    reader.is_empty().then_some(manifest)
}

fn decode_level(reader: &mut Reader<'_>) -> Option<Vec<Arc<TableMeta>>> {
    let mut level = Vec::new();
    for _ in 0..reader.varint()? {
        level.push(Arc::new(TableMeta::decode(reader)?));
    }
    Some(level)
}

impl TableMeta {
    fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.number);
        put_varint(out, self.size);
        self.root.encode(out);
        self.filter.encode(out);
        put_varint(out, self.entries);
        put_varint(out, self.tombstones);
        put_varint(out, u64::from(self.key_id));
        put_bytes(out, &self.smallest);
        put_bytes(out, &self.largest);
    }

    fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        Some(TableMeta {
            number: reader.varint()?,
            size: reader.varint()?,
            root: PieceLocation::decode(reader)?,
            filter: PieceLocation::decode(reader)?,
            entries: reader.varint()?,
            tombstones: reader.varint()?,
            key_id: u32::try_from(reader.varint()?).ok()?,
            smallest: Bytes::copy_from_slice(reader.bytes()?),
            largest: Bytes::copy_from_slice(reader.bytes()?),
        })
    }
}

impl PieceLocation {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.offset);
        put_varint(out, u64::from(self.bytes));
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        Some(PieceLocation { offset: reader.varint()?, bytes: u32::try_from(reader.varint()?).ok()? })
    }
}
