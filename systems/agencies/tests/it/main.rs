//! Integration tests of the directory of agencies.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod access_patterns;
mod concurrency;
mod flows;
mod support;
