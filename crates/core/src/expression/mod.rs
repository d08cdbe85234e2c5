//! DynamoDB expressions: parsed from text into trees, evaluated over items.
//!
//! 1. [`substitution`] holds the values of the `#name` and `:value` placeholders and tracks which of them are used.
//! 2. `lexer` splits the text into tokens, `parser` builds the trees of [`ast`] from them.
//! 3. [`evaluate`] evaluates a [`Condition`], [`update`] applies an [`Update`], [`project`] applies a [`Projection`].
//! 4. [`mod@print`] formats the trees as text again.

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
