//! Users, sessions, keys, permissions, invitations, subscriptions and request limits, on every store.
//!
//! 1. `access_patterns`: each pattern that the schema document describes for these tables.
//! 2. `sign_in`, `members`, `plans`: what needs more than one pattern, with its refusals and its times.
//! 3. `concurrency`: what must hold when many come at once, answers are lost, and programs are killed.
//! 4. `http`: the same over HTTP, with a token that the server has issued.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod access_patterns;
mod concurrency;
mod http;
mod members;
mod plans;
mod sign_in;
mod support;
