//! Bloom filter of a table's keys, with ten bits per key: rejects about 99 % of the keys that the table does not hold.
//!
//! The bits of a key lie in one 64-byte line, so a lookup costs one memory access.

use bytes::Bytes;
use twox_hash::XxHash64;

const BITS_PER_KEY: usize = 10;
const PROBES: usize = 6;
const LINE_BYTES: usize = 64;
const LINE_BITS: u64 = LINE_BYTES as u64 * 8;

/// Hash for filters. `seed` differs between stores, so that an attacker cannot prepare colliding keys.
pub(crate) fn key_hash(seed: u64, key: &[u8]) -> u64 {
    XxHash64::oneshot(seed, key)
}

#[derive(Debug)]
pub(crate) struct Filter {
    lines: Bytes,
}

impl Filter {
    /// Checks the size of an encoded filter; returns `None` if it is not valid.
    pub(crate) fn parse(lines: Bytes) -> Option<Filter> {
        (!lines.is_empty() && lines.len().is_multiple_of(LINE_BYTES)).then_some(Filter { lines })
    }

    /// Builds the filter of the keys with these hashes.
    pub(crate) fn build(hashes: &[u64]) -> Vec<u8> {
        let count = (hashes.len() * BITS_PER_KEY).div_ceil(LINE_BYTES * 8).max(1);
        let mut lines = vec![0; count * LINE_BYTES];
        for hash in hashes {
            let start = line_of(*hash, count);
            for bit in bits_of(*hash) {
                lines[start + bit / 8] |= 1 << (bit % 8);
            }
        }
        lines
    }

    pub(crate) fn bytes(&self) -> usize {
        self.lines.len()
    }

    /// Returns whether the table may hold the key with this hash.
    pub(crate) fn may_hold(&self, hash: u64) -> bool {
        let start = line_of(hash, self.lines.len() / LINE_BYTES);
        let line = &self.lines[start..start + LINE_BYTES];
        bits_of(hash).all(|bit| line[bit / 8] & (1 << (bit % 8)) != 0)
    }
}

fn line_of(hash: u64, count: usize) -> usize {
    (((hash >> 32) * count as u64) >> 32) as usize * LINE_BYTES
}

fn bits_of(hash: u64) -> impl Iterator<Item = usize> {
    let step = (hash >> 17) | 1;
    let first = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..PROBES as u64).map(move |probe| {
        let mixed = first.wrapping_add(step.wrapping_mul(probe)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        ((mixed >> 40) % LINE_BITS) as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_pass_and_most_others_do_not() {
        let hash = |number: u32| key_hash(1, &number.to_le_bytes());
        let hashes: Vec<u64> = (0..10_000).map(hash).collect();
        let filter = Filter::parse(Bytes::from(Filter::build(&hashes))).unwrap();
        assert!(hashes.iter().all(|hash| filter.may_hold(*hash)));
        let wrong = (10_000..20_000).filter(|number| filter.may_hold(hash(*number))).count();
        assert!(wrong < 300, "{wrong} of 10,000 foreign keys passed");
    }
}
