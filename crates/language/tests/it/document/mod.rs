//! Parsing, formatting and the JSON form of models.

#[path = "../../../../../fuzz/checks/model.rs"]
mod checks;

mod corpus;
mod format;
mod json;
mod mistakes;
mod models;
mod models_read;
mod random;
mod robust;
