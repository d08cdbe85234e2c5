//! Request ids in the format of the service: 52 random symbols, cheap to generate.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

const SYMBOLS: &[u8; 32] = b"0123456789ABCDEFGHIJKLMNOPQRSTUV";
pub(crate) const LENGTH: usize = 52;

#[derive(Clone, Copy)]
pub(crate) struct RequestId([u8; LENGTH]);

impl RequestId {
    /// Generates a random id.
    pub(crate) fn next() -> Self {
        let mut symbols = [0; LENGTH];
        for part in symbols.chunks_mut(12) {
            let mut bits = random();
            for symbol in part {
                *symbol = SYMBOLS[(bits & 31) as usize];
                bits >>= 5;
            }
        }
        Self(symbols)
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("the symbols are ASCII")
    }
}

thread_local! {
    /// Each thread has its own sequence, seeded from the operating system's randomness.
    static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(std::thread::current().id()));
}

/// SplitMix64: sufficient for unique ids, not for secrets.
fn random() -> u64 {
    STATE.with(|state| {
        let next = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        state.set(next);
        let mixed = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_have_the_form_of_the_service() {
        let (first, second) = (RequestId::next(), RequestId::next());
        assert_ne!(first.as_str(), second.as_str());
        for id in [first, second] {
            assert_eq!(id.as_str().len(), 52);
            assert!(id.as_str().bytes().all(|symbol| symbol.is_ascii_digit() || symbol.is_ascii_uppercase()));
        }
    }
}
