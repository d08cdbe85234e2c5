//! Migrations from an old form of a model to a new one, with concurrent readers and writers.

mod forms;
mod load;
mod rehearse;
mod stops;
mod support;
mod workspaces;
