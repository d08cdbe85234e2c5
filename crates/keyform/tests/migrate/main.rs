//! Migrations: the old form of a model becomes the new one while readers and writers go on.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod forms;
mod load;
mod rehearse;
mod stops;
mod support;
mod workspaces;
