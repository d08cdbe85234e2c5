//! Deterministic ids for migrated items.

use std::sync::atomic::{AtomicUsize, Ordering};

use keyform_core::Attributes;

use keyform_language::bind::Fresh;
use keyform_language::schema::{Format, Type};
use keyform_language::template::render;

use super::mark::sum;

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

    fn letters(&self, alphabet: &[u8; 32], count: usize) -> String {
        let digits = self.digits(count * 2);
        let byte = |place: usize| u8::from_str_radix(digits.get(place * 2..place * 2 + 2).unwrap_or("0"), 16);
        (0..count).map(|place| char::from(alphabet[usize::from(byte(place).unwrap_or(0) % 32)])).collect()
    }
}

impl Fresh for Derived {
    fn ulid(&self) -> String {
        format!("0{}", self.letters(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ", 25))
    }

    fn uuid(&self) -> String {
        let hex = self.digits(32);
        format!("{}-{}-8{}-a{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
    }

    fn code(&self, length: usize) -> String {
        self.letters(b"23456789abcdefghjkmnpqrstuvwxyzA", length)
    }

    fn token(&self, bytes: usize) -> String {
        self.digits(bytes * 2)
    }
}
