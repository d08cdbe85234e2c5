//! Integration tests of the workspaces and their migration.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod access_patterns;
mod concurrency;
mod flows;
mod migration;
mod support;
