//! Integration tests of the language.

mod cost;
mod document;
mod editor;
mod explain;
mod golden;
mod import;
mod index_of_rules;
mod keys;
mod names;
mod plans;
mod planted;
mod readings;
mod repairs;
mod rules;
mod scalars;
mod schema;
mod scopes;
mod systems;
mod unseen;
