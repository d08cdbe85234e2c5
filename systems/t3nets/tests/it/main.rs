//! Integration tests of the assistant for teams.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]
#![allow(clippy::disallowed_methods, reason = "tests give up after real time")]

mod access_patterns;
mod concurrency;
mod flows;
mod support;
