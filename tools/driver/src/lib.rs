//! Shared code of `parity` and the benchmark: starts DynamoDB-compatible servers and sends requests to them.
//!
//! 1. [`server`] starts a server (ours or a peer's) on a free loopback port and stops it by its process.
//! 2. [`sigv4`] signs requests, because one of the peers verifies signatures.
//! 3. [`http`] writes requests and reads answers over one kept-alive connection.
//! 4. [`process`] reads the processor time and memory of a running server from `/proc`.
//!
//! It does not interpret the requests.

pub mod http;
pub mod process;
pub mod server;
pub mod sigv4;
