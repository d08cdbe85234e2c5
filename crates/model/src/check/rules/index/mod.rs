//! Indexes: X01 to X13.

use crate::check::Rule;

/// The rules of this group.
pub(super) const RULES: &[&Rule] = &[];
