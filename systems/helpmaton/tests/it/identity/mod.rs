//! Users, sessions, keys, permissions, invitations, subscriptions and request limits, on every store.
//!
//! 1. `access_patterns`: each pattern of the schema document for these tables.
//! 2. `sign_in`, `members`, `plans`: features that combine several patterns, with refusals and expiry.
//! 3. `concurrency`: invariants under concurrency, lost answers and killed programs.
//! 4. `http`: the same over HTTP, with a token that the server issued.

mod access_patterns;
mod concurrency;
mod http;
mod members;
mod plans;
mod sign_in;
mod support;
