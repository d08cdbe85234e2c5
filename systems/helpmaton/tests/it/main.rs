//! Integration tests of workspaces with agents and credits.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod identity;
mod work;
