//! Evolution: M01 to M05.

use crate::check::Rule;

/// The rules of this group.
pub(super) const RULES: &[&Rule] = &[];
