//! Deterministic ids for migrated items.

use std::sync::atomic::{AtomicUsize, Ordering};

use keyform_core::Attributes;

use keyform_language::bind::Fresh;
use keyform_language::schema::{Format, Type};
use keyform_language::template::render;

use ulid::Ulid;

use super::mark::sum;

/// Letters and digits that are not easily confused.
const LEGIBLE: &[u8; 32] = b"23456789abcdefghjkmnpqrstuvwxyzA";

/// Generates ids from an item's old key, so that a repeated conversion gives the same ones.
pub(super) struct Derived {
    seed: String,
    given: AtomicUsize,
}

impl Derived {
    pub(super) fn of(key: &Attributes) -> Self {
        Self { seed: sum(key), given: Default::default() }
    }

    fn digits(&self, count: usize) -> String {
        let number = self.given.fetch_add(1, Ordering::Relaxed);
        let mut digits = String::new();
        while digits.len() < count {
            let text = format!("{}#{number}#{}", self.seed, digits.len());
            digits.push_str(&render::written(&Type::Json, Format::Hash, &text).unwrap_or_default());
        }
        digits.truncate(count);
        digits
    }

    /// Returns numbers below 32.
    fn fives(&self, count: usize) -> Vec<u8> {
        let digits = self.digits(count * 2);
        let byte = |place: usize| u8::from_str_radix(digits.get(place * 2..place * 2 + 2).unwrap_or("0"), 16);
        (0..count).map(|place| byte(place).unwrap_or(0) % 32).collect()
    }
}

impl Fresh for Derived {
    fn ulid(&self) -> String {
        // The first of the 26 letters stays 0: it has only three bits.
        Ulid(self.fives(25).into_iter().fold(0, |bits, five| bits << 5 | u128::from(five))).to_string()
    }

    fn uuid(&self) -> String {
        let hex = self.digits(32);
        format!("{}-{}-8{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
    }

    fn code(&self, length: usize) -> String {
        self.fives(length).into_iter().map(|five| char::from(LEGIBLE[usize::from(five)])).collect()
    }

    fn token(&self, bytes: usize) -> String {
        self.digits(bytes * 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A migration that one version started and another resumes must derive the same ids.
    #[test]
    fn ids_stay_the_same_between_versions() {
        let derived = Derived::of(&Attributes::from([("pk".to_owned(), "USER#ada".into())]));
        let ids = [derived.ulid(), derived.uuid(), derived.code(8)];
        assert_eq!(ids, ["0JD8YPDKW13V748XK9W8VQD5N2", "a4772332-ac07-8d7f-a85a-86d257c1baff", "wgnmmpw9"]);
    }
}
