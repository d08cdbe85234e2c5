//! What `parity` and the benchmark share: starting DynamoDB-compatible servers and speaking to them.
//!
//! 1. [`server`] starts a server (ours or a peer's) on a free loopback port and stops it by its process.
//! 2. [`sigv4`] signs requests, because one of the peers verifies signatures.
//! 3. [`http`] writes requests and reads answers over one kept-alive connection.
//! 4. [`process`] reads what a running server costs from `/proc`.
//!
//! It knows nothing about what the requests mean.

pub mod http;
pub mod process;
pub mod server;
pub mod sigv4;
