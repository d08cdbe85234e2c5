//! The text of a model and its tree.
//!
//! 1. [`lexer`] cuts the text into [`token`]s and comments.
//! 2. [`mod@parse`] builds the tree ([`ast`]), with recovery: one run reports all independent mistakes.
//! 3. [`mod@print`] writes the tree as text, in the one form all models have.
//! 4. [`json`] is the same tree for programs.
//! 5. [`template`] takes the quoted templates apart, where the meaning needs it.

pub mod ast;
pub mod json;
pub mod lexer;
pub mod parse;
pub mod print;
pub mod template;
pub mod token;

pub use parse::parse;
pub use print::print;
