//! The code beside a model: flows that clients call, jobs that run periodically, and the host that both run on. Knows
//! models and stores, and no HTTP: the server above it serves flows, and tests call them directly.
//!
//! Life of a flow:
//! 1. An application builds its [`Flow`]s and [`Job`]s on a [`Host`]: a store, [`ModelOptions`], and the [`TokenKeys`]
//!    that sign what its flows issue.
//! 2. A server authenticates the caller with [`token`], decodes the JSON arguments, and runs [`Flow::call`] with a
//!    [`FlowCall`].
//! 3. The flow counts attempts with a [`Throttle`] before it checks a secret, runs expensive work in a
//!    [`BlockingPool`], and calls patterns of the model.
//! 4. It returns an answer or a [`FlowError`], which the server converts to a problem document.

#![warn(unreachable_pub)]

mod client;
mod flow;
mod host;
mod job;
mod jwk;
mod options;
mod pool;
mod tables;
mod throttle;
pub mod token;
mod token_key;
mod token_keys;

pub use client::Client;
pub use flow::{Flow, FlowCall, FlowError, account_of};
pub use host::Host;
pub use job::Job;
pub use options::ModelOptions;
pub use pool::{BlockingPool, PoolError};
pub use tables::Tables;
pub use throttle::{Attempts, Rate, Throttle, Throttled, beginning};
pub use token_keys::{TokenKeys, TokenKeysError};
