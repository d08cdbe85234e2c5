//! Migrations from an old form of a model to a new one, with concurrent readers and writers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod forms;
mod load;
mod rehearse;
mod stops;
mod support;
mod workspaces;
