//! Integration tests of the checker.

mod belonging;
mod cost;
mod data;
mod editor;
mod evolution;
mod explain;
mod golden;
mod import;
mod index_of_rules;
mod keys;
mod long_models;
mod names;
mod plans;
mod planted;
mod readings;
mod repairs;
mod rules;
mod scopes;
mod systems;
mod unseen;
