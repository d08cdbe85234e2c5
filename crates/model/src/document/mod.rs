//! The text of a model and its tree.

pub mod ast;
