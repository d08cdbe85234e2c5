//! All rules, grouped by subject.

pub mod evolution;
pub mod index;
pub mod key;
pub mod read;
mod show;
pub mod time;
pub mod volume;
pub mod write;

use super::Rule;

/// Returns all rules, by group and then by code.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [key::RULES, index::RULES, read::RULES, write::RULES, time::RULES, evolution::RULES, volume::RULES]
        .into_iter()
        .flatten()
        .copied()
}

/// Returns the rule with the given code, ignoring case.
#[must_use]
pub fn by_code(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code.0.eq_ignore_ascii_case(code))
}
