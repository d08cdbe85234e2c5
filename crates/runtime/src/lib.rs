//! Runs the patterns of a `.kf` model on any store that implements [`Execute`](keyform_core::Execute).
//!
//! - [`run`] calls reads and writes: it binds arguments to requests, sends them, retries conflicts and names refusals.
//! - [`seal`] encrypts fields before they become part of a request and opens them after an answer.
//! - [`evolve`] moves items from one form to the next while readers and writers go on.
//! - [`deploy`] compares a model's tables with the store's and changes the store.
//!
//! The clock, randomness and waiting are injected (`run::Surroundings`). The crate knows neither the engine nor HTTP.

pub mod deploy;
pub mod evolve;
pub mod run;
pub mod seal;
