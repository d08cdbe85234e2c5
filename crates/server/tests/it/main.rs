//! Integration tests of the HTTP endpoint.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod connections;
mod cors;
mod framing;
mod gate;
mod http;
mod signatures;
mod start_stop;
mod support;
mod tls;
