//! Chance from one seed: the same seed makes the same tables, operations and crashes, on every machine.

/// A small generator (SplitMix64); good enough to choose with, and nothing else hangs on it.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03 }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, times: usize) -> bool {
        self.below(100) < times
    }

    /// One of the choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// A value, so many times in a hundred.
    pub fn maybe<T>(&mut self, times: usize, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.percent(times).then(|| make(self))
    }

    /// From `low` to `high` values.
    pub fn some<T>(&mut self, low: usize, high: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.between(low, high);
        (0..count).map(|_| make(self)).collect()
    }
}
