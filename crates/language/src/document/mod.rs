//! The source text of a model and its syntax tree.
//!
//! 1. [`lexer`] splits the text into [`token`]s and comments.
//! 2. [`mod@parse`] builds the tree ([`ast`]) with error recovery: one run reports all independent syntax errors.
//! 3. [`mod@print`] formats the tree as text; every model has exactly one format.
//! 4. [`json`] converts the tree to and from JSON.
//! 5. [`template`] parses the quoted key templates.
//!
//! [`keywords`] lists the words of each place for editors.

pub mod ast;
pub mod json;
pub mod keywords;
pub mod lexer;
mod operator;
pub mod parse;
pub mod print;
pub mod template;
pub mod token;
mod type_json;

pub use parse::parse;
pub use print::print;
