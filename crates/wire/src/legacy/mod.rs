//! The parameters from before expressions: they are checked with their own texts and become the same trees.
//!
//! * [`read`] takes them from the JSON as they stand.
//! * [`condition`] makes conditions of Expected, QueryFilter and ScanFilter, [`key`] a key condition of KeyConditions.
//! * [`update`] makes an update of AttributeUpdates, [`projection`] a projection of AttributesToGet.

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
