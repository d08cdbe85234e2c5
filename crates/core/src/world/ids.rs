//! Ids made of time and randomness.

use std::sync::{Mutex, PoisonError};

use ulid::Ulid;

use super::World;

/// Letters and digits that are not easily confused.
const LEGIBLE: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyzA";
const RANDOM_BITS: u32 = 80;

/// Sequence of ULIDs of a world: time and random part of the last one.
#[derive(Debug, Default)]
pub struct Ulids(Mutex<(u64, u128)>);

impl Ulids {
    /// Creates a sequence without a first id.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new((0, 0)))
    }

    /// Returns the next ULID. Within a millisecond, or if the clock went back, it increments the last one, so that ids
    /// sort in the order of their creation.
    pub fn next(&self, world: &(impl World + ?Sized)) -> String {
        let millis = u64::try_from(world.now_millis()).unwrap_or(0);
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = if millis > last.0 {
            let mut random = [0; 16];
            world.fill(&mut random);
            // The first bit stays zero, so that the increments of one millisecond have room.
            (millis, u128::from_le_bytes(random) >> (128 - RANDOM_BITS + 1))
        } else {
            (last.0, last.1 + 1)
        };
        Ulid::from_parts(last.0, last.1).to_string()
    }
}

/// Returns a version 4 UUID.
pub(super) fn uuid(world: &(impl World + ?Sized)) -> String {
    let mut bytes = [0; 16];
    world.fill(&mut bytes);
    uuid::Builder::from_random_bytes(bytes).into_uuid().to_string()
}

pub(super) fn code(world: &(impl World + ?Sized), length: usize) -> String {
    let mut bytes = vec![0; length];
    world.fill(&mut bytes);
    bytes.iter().map(|byte| char::from(LEGIBLE[usize::from(byte % 32)])).collect()
}

pub(super) fn token(world: &(impl World + ?Sized), bytes: usize) -> String {
    let mut random = vec![0; bytes];
    world.fill(&mut random);
    hex::encode(random)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::execute::BoxFuture;

    /// World whose clock shows this time, and whose random bytes are all alike.
    struct Fixed(i64, u8, Ulids);

    impl World for Fixed {
        fn now_millis(&self) -> i64 {
            self.0
        }

        fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
            Box::pin(std::future::ready(()))
        }

        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.1);
        }

        fn ulid(&self) -> String {
            self.2.next(self)
        }
    }

    #[test]
    fn ulids_count_within_a_millisecond() {
        let world = Fixed(1_469_922_850_259, 0xff, Ulids::new());
        assert_eq!(world.ulid(), "01ARZ3NDEKFZZZZZZZZZZZZZZZ");
        assert_eq!(world.ulid(), "01ARZ3NDEKG000000000000000");
    }

    #[test]
    fn ulids_sort_even_if_the_clock_goes_back() {
        let mut world = Fixed(2_000, 7, Ulids::new());
        let first = world.ulid();
        world.0 = 1_000;
        assert!(world.ulid() > first);
    }

    #[test]
    fn ids_have_their_form() {
        let world = Fixed(0, 0xff, Ulids::new());
        assert_eq!(world.uuid(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!((world.code(3), world.token(3)), ("AAA".to_owned(), "ffffff".to_owned()));
        assert!((world.jitter() - 1.0).abs() < f64::EPSILON);
    }
}
