//! System clock, randomness and timer, as patterns use them.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use keyform_language::bind::Fresh;
use keyform_runtime::run::{Surroundings, Waiting};

/// System clock and randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Letters and digits that are not easily confused.
const LEGIBLE: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyzA";

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system provides randomness");
    bytes
}

fn letters(alphabet: &[u8; 32], length: usize) -> String {
    (0..length).map(|_| char::from(alphabet[usize::from(random::<1>()[0] % 32)])).collect()
}

/// Time and random part of the last ULID of this process.
static LAST: Mutex<(u64, u128)> = Mutex::new((0, 0));
const RANDOM_BITS: u32 = 80;

/// Returns the parts of the next ULID. Within a millisecond, or if the clock went back, it increments the last one, so
/// that ids sort in creation order.
fn next(millis: u64) -> (u64, u128) {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    *last = if millis > last.0 {
        (millis, u128::from_le_bytes(random()) >> (128 - RANDOM_BITS + 1))
    } else {
        (last.0, last.1 + 1)
    };
    *last
}

impl Fresh for System {
    fn ulid(&self) -> String {
        let millis = u64::try_from(self.now_millis()).unwrap_or(0);
        let (millis, random) = next(millis);
        let bits = u128::from(millis) << 80 | random;
        (0..26).rev().map(|place| char::from(CROCKFORD[(bits >> (5 * place) & 31) as usize])).collect()
    }

    fn uuid(&self) -> String {
        let mut bytes = random::<16>();
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let hex = hex::encode(bytes);
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    }

    fn code(&self, length: usize) -> String {
        letters(LEGIBLE, length)
    }

    fn token(&self, bytes: usize) -> String {
        (0..bytes).map(|_| format!("{:02x}", random::<1>()[0])).collect()
    }
}

impl Surroundings for System {
    fn now_millis(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    fn fresh(&self) -> &dyn Fresh {
        self
    }

    fn jitter(&self) -> f64 {
        f64::from(u32::from_le_bytes(random())) / f64::from(u32::MAX)
    }

    fn sleep(&self, time: Duration) -> Waiting<'_> {
        Box::pin(tokio::time::sleep(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_look_as_they_should_and_differ() {
        let (one, other) = (System.ulid(), System.ulid());
        assert_eq!((one.len(), &one[..7]), (26, &other[..7]));
        assert!(one < other);
        assert!(one.bytes().all(|byte| CROCKFORD.contains(&byte)));
        assert_eq!(System.uuid().len(), 36);
        assert_eq!(System.uuid().as_bytes()[14], b'4');
        assert_eq!((System.code(10).len(), System.token(32).len()), (10, 64));
    }
}
