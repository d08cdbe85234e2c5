//! Parses the text of expressions into trees.
//!
//! 1. [`cursor`] iterates over the tokens; [`written`] parses what all grammars share: paths, operands, functions.
//! 2. [`condition`], [`key_condition`], [`update`] and [`projection`] parse one grammar each into a tree that borrows
//!    from the text.
//! 3. [`resolve`] substitutes the placeholders in that tree and collects its flaws; [`overlap`] compares paths.
//!
//! Nesting is bounded and AND and OR nodes are flat, so no input can overflow the stack.

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
