//! Makes trees out of the texts of expressions.
//!
//! 1. [`cursor`] walks over the tokens; [`written`] reads what all grammars share: paths, operands, functions.
//! 2. [`condition`], [`key_condition`], [`update`] and [`projection`] read one grammar each into a tree that borrows from the
//!    text.
//! 3. [`resolve`] substitutes the placeholders in that tree and collects what is wrong with it; [`overlap`] compares paths.
//!
//! Nesting is bounded and the trees of AND and OR are flat, so no text can exhaust the stack.

mod condition;
mod cursor;
mod key_condition;
mod overlap;
mod projection;
mod resolve;
mod update;
mod written;

pub use condition::{ConditionKind, parse_condition};
pub use key_condition::parse_key_condition;
pub use projection::parse_projection;
pub use update::parse_update;
