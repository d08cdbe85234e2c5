//! Integration tests of the chat.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod access_patterns;
mod cascade;
mod concurrency;
mod flows;
mod gateway;
mod served;
mod support;
