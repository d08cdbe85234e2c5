//! Stored form of a change record.
//!
//! ```text
//! version:u8 kind:u8 identity:u8 time:u64 (length:u32 bytes)*   keys, then old and new item if the view has them;
//!                                                               length ffffffff for an absent item
//! ```

use bytes::{Buf, Bytes};
use keyform_core::Item;
use keyform_core::operation::{ChangeKind, ChangeRecord, UserIdentity};
use keyform_core::table::StreamView;
use twox_hash::XxHash3_64;

use crate::catalog::{Position, Stream};
use crate::change::Change;

const VERSION: u8 = 1;
const NONE: u32 = u32::MAX;
const HEADER_BYTES: usize = 11;

/// Encodes a change.
pub fn encode(stream: &Stream, change: &Change<'_>) -> Vec<u8> {
    let either = change.new.or(change.old);
    let keys = either.map(|item| item.filtered(|name| change.table.key.contains(name)));
    let old = change.old.filter(|_| has_old(stream.view));
    let new = change.new.filter(|_| has_new(stream.view));
    let parts = [keys.as_ref(), old, new];
    let bytes: usize = parts.iter().flatten().map(|item| item.as_bytes().len()).sum();
    let mut out = Vec::with_capacity(HEADER_BYTES + 12 + bytes);
    out.extend_from_slice(&[VERSION, kind(change), u8::from(change.identity.is_some())]);
    out.extend_from_slice(&change.at_ms.to_be_bytes());
    for part in parts {
        write_part(&mut out, part);
    }
    out
}

fn kind(change: &Change<'_>) -> u8 {
    match (change.old, change.new) {
        (None, _) => 0,
        (Some(_), Some(_)) => 1,
        (Some(_), None) => 2,
    }
}

fn has_old(view: StreamView) -> bool {
    matches!(view, StreamView::OldImage | StreamView::NewAndOldImages)
}

fn has_new(view: StreamView) -> bool {
    matches!(view, StreamView::NewImage | StreamView::NewAndOldImages)
}

fn write_part(out: &mut Vec<u8>, part: Option<&Item>) {
    let Some(item) = part else { return out.extend_from_slice(&NONE.to_be_bytes()) };
    let bytes = item.as_bytes();
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Returns the time of a stored change.
pub fn at_ms(stored: &[u8]) -> Option<u64> {
    stored.get(3..)?.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}

/// Decodes a stored change; returns `None` if it is not valid.
pub fn decode(stream: &Stream, position: Position, mut stored: Bytes) -> Option<ChangeRecord> {
    let header = stored.get(..HEADER_BYTES)?;
    let [VERSION, kind, identity, time @ ..] = header else { return None };
    let (kind, identity, at_ms) = (*kind, *identity, u64::from_be_bytes(time.try_into().ok()?));
    stored.advance(HEADER_BYTES);
    let (keys, old, new) = (read_part(&mut stored)?, read_part(&mut stored)?, read_part(&mut stored)?);
    let size = |item: &Option<Item>| item.as_ref().map_or(0, Item::size) as u64;
    Some(ChangeRecord {
        id: id(stream, position),
        kind: match kind {
            0 => ChangeKind::Insert,
            1 => ChangeKind::Modify,
            2 => ChangeKind::Remove,
            _ => return None,
        },
        at_ms,
        size_bytes: size(&keys) + size(&old) + size(&new),
        keys: keys?,
        old,
        new,
        sequence: position.sequence(),
        view: stream.view,
        identity: (identity == 1).then_some(UserIdentity::TimeToLive),
    })
}

/// Returns `None` if the part is not valid, and `Some(None)` if it has no item.
fn read_part(stored: &mut Bytes) -> Option<Option<Item>> {
    let length = u32::from_be_bytes(*stored.first_chunk()?);
    stored.advance(4);
    if length == NONE {
        return Some(None);
    }
    let length = usize::try_from(length).ok().filter(|length| *length <= stored.len())?;
    Item::decode(stored.split_to(length)).ok().map(Some)
}

/// Returns the unique id of a record: a hash of its position.
fn id(stream: &Stream, position: Position) -> String {
    let place = [
        stream.table_id.0.to_be_bytes().as_slice(),
        &stream.created_ms.to_be_bytes(),
        &stream.number.to_be_bytes(),
        &position.to_bytes(),
    ]
    .concat();
    let half = |seed| XxHash3_64::oneshot_with_seed(seed, &place);
    format!("{:016x}{:016x}", half(1), half(2))
}
