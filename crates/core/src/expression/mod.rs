//! Expressions: text in, trees out, evaluated over items.
//!
//! 1. [`substitution`] holds what `#name` and `:value` stand for and notices which were used.
//! 2. `lexer` cuts the text into tokens, `parser` makes the trees of [`ast`] out of them.
//! 3. [`evaluate`] decides a [`Condition`], [`update`] applies an [`Update`], [`project`] applies a [`Projection`].
//! 4. [`mod@print`] turns the trees into text again.

pub mod ast;
pub mod evaluate;
mod lexer;
mod parser;
pub mod print;
pub mod project;
mod reserved;
mod roots;
pub mod substitution;
pub mod update;

pub use ast::{
    Comparator, Condition, KeyCondition, KeyPredicate, KeyTest, Operand, Path, PathElement, Projection, SetAction,
    SetValue, Update, UpdateOperand,
};
pub use parser::{ConditionKind, parse_condition, parse_key_condition, parse_projection, parse_update};
pub use print::Printer;
pub use reserved::is_reserved;
pub use substitution::Substitutions;
pub use update::{apply, create, updated_attributes};
