//! Scopes: which items a caller is authorised for, and whether a pattern stays within them.
//!
//! 1. [`domain`]: what a field identifies, so that values of two fields can be compared in meaning.
//! 2. [`disjunct`]: the alternatives of an `allow`.
//! 3. [`enforced`]: the fields of an item that a read or a step compares with a value.
//! 4. [`fact`]: the values that one alternative authorises.
//! 5. [`admitted`]: the values that a condition on one field admits, to compare rights.
//! 6. [`call`]: the arguments with which patterns call guards.
//! 7. [`given`]: the values that callers choose, also through `let` and `for`.
//! 8. [`judge`]: the items of a pattern that no authorised value reaches; `reach` adds what a write touches beside the
//!    items of its steps.

pub mod admitted;
pub mod call;
pub mod disjunct;
pub mod domain;
pub mod enforced;
pub mod fact;
pub mod given;
pub mod judge;
mod reach;

pub use domain::{Domain, Domains};
pub use fact::Facts;
pub use given::Given;
pub use judge::{Act, Judged, Unbound};
