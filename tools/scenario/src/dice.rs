//! Pseudo-random numbers.

/// Pseudo-random numbers that depend only on the seed.
#[derive(Clone, Debug)]
pub struct Dice(pub u64);

impl Dice {
    /// Returns a number from 0 below this limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    /// Returns true once in this number of times, on average.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Returns one of the elements.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}
