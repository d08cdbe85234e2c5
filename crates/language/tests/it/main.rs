//! Integration tests of the language.

mod document;
mod scalars;
mod schema;
