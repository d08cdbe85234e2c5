//! All rules, grouped by subject.

pub mod data;
pub mod evolution;
pub mod index;
pub mod key;
pub mod permission;
pub mod read;
mod show;
pub mod time;
pub mod volume;
pub mod write;

use crate::check::Rule;

/// Returns all rules, by group and then by code.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    let groups = [
        key::RULES,
        index::RULES,
        read::RULES,
        write::RULES,
        data::RULES,
        permission::RULES,
        time::RULES,
        evolution::RULES,
        volume::RULES,
    ];
    groups.into_iter().flatten().copied()
}

/// Returns the rules that compare two versions of a model.
pub fn of_evolution() -> impl Iterator<Item = &'static Rule> {
    evolution::RULES.iter().copied()
}

/// Returns the rule with the given code, ignoring case.
#[must_use]
pub fn by_code(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code.0.eq_ignore_ascii_case(code))
}
