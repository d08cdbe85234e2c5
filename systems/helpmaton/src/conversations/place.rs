//! Id of a message, derived from its position in the conversation.
//!
//! A ULID has 128 bits. Here they are the start of the conversation in milliseconds (48 bits), the position of the
//! message (32), and a part of the hash of the message's own id (48). Ids of a conversation therefore sort in message
//! order, whatever the clocks of the senders, and a message that is appended again at the same position has the same
//! id.

use keyform::{Timestamp, Ulid};
use sha2::{Digest, Sha256};

/// Returns the id of the message at a position, in a conversation with this start time.
#[must_use]
pub fn message_id(started_at: Timestamp, place: u32, key: &str) -> Ulid {
    let millis = u128::from(started_at.millis().unsigned_abs() & 0xffff_ffff_ffff);
    let hash = Sha256::digest(key.as_bytes());
    let tail = hash.iter().take(6).fold(0u128, |bits, byte| bits << 8 | u128::from(*byte));
    let bits = millis << 80 | u128::from(place) << 48 | tail;
    Ulid::trusted(ulid::Ulid(bits).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_place_and_repeat_for_the_same_message() {
        let began = Timestamp::of_millis(1_790_000_000_000);
        let id = |place, key| message_id(began, place, key);
        assert_eq!(id(7, "a"), id(7, "a"));
        assert_ne!(id(7, "a"), id(7, "b"));
        for (before, after) in [(0, 1), (9, 10), (255, 256), (65_535, 65_536), (1 << 30, u32::MAX)] {
            assert!(id(before, "z").as_str() < id(after, "a").as_str(), "{before} {after}");
        }
        assert_eq!(Ulid::new(id(1, "a").as_str()), Ok(id(1, "a")));
        assert_eq!(id(7, "a").as_str(), "01M3250V00000001YAJY0H5JGV");
    }
}
