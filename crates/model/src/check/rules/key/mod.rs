//! Keys and templates: K01 to K17.

use crate::check::Rule;

/// The rules of this group.
pub(super) const RULES: &[&Rule] = &[];
