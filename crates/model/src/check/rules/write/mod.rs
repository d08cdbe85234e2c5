//! Write patterns: W01 to W14.

use crate::check::Rule;

/// The rules of this group.
pub(super) const RULES: &[&Rule] = &[];
