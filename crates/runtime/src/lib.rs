//! Runs the patterns of a `.kf` model on any store that implements [`Execute`](keyform_core::Execute).
//!
//! - [`run`] calls reads and writes: it binds arguments to requests, sends them, retries conflicts and names refusals.
//! - [`seal`] encrypts fields before they enter a request and decrypts them in responses.
//! - [`evolve`] migrates items to a new key or field format while the application keeps reading and writing.
//! - [`accept`] keeps the accepted version of a model in the store, and refuses one that does not fit its items.
//! - [`deploy`] compares the tables of a model with those in the store and applies the differences.
//!
//! The caller injects the clock, randomness and sleeping ([`keyform_core::World`]). The crate depends on neither the
//! engine nor HTTP.

#![warn(unreachable_pub)]

pub mod accept;
mod contention;
pub mod deploy;
pub mod evolve;
pub mod run;
pub mod seal;
