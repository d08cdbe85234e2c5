//! Figures: V01 to V18.

use crate::check::Rule;

/// The rules of this group.
pub(super) const RULES: &[&Rule] = &[];
