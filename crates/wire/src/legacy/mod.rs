//! Legacy parameters that expressions replaced. They have their own error messages and become the same trees.
//!
//! * [`read`] reads them from JSON without checking them.
//! * [`condition`] converts Expected, QueryFilter and ScanFilter, [`key`] converts KeyConditions.
//! * [`update`] converts AttributeUpdates, [`projection`] converts AttributesToGet.

mod condition;
mod key;
mod projection;
mod read;
mod update;

pub(crate) use condition::{check_conditional_operator, check_operators, expected, query_filter, scan_filter};
pub(crate) use key::key_conditions;
pub(crate) use projection::projection;
pub(crate) use read::{LegacyParameters, member};
pub(crate) use update::{check_updates, update};
