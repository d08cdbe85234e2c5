//! All rules, by what they are about.

pub mod evolution;
pub mod index;
pub mod key;
pub mod read;
mod show;
pub mod time;
pub mod volume;
pub mod write;

use super::Rule;

/// Every rule, in the order of the codes within each group.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [key::RULES, index::RULES, read::RULES, write::RULES, time::RULES, evolution::RULES, volume::RULES]
        .into_iter()
        .flatten()
        .copied()
}

/// The rule of that code, in any case of letters.
#[must_use]
pub fn by_code(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code.0.eq_ignore_ascii_case(code))
}
