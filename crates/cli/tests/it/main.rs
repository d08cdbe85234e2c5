//! Integration tests of the `keyform` binary.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::disallowed_methods, reason = "tests give up after real time")]

mod chat;
mod check;
mod command;
mod copy;
mod dead_letters;
mod evolution;
mod explain;
mod format;
mod grammar;
mod lsp;
mod prove;
mod run;
mod serve;
mod tour;
mod watch;
