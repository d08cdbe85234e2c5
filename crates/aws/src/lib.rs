//! Runs operations on Amazon DynamoDB, ScyllaDB Alternator or any other DynamoDB-compatible endpoint, through the
//! official AWS SDK (ADR 0012). Knows neither models nor the embedded engine.
//!
//! Steps of an operation:
//!
//! 1. [`Remote::connect`] has read the usual AWS environment and profile, and `trust` the certificates; nothing is
//!    sent before the first operation.
//! 2. `execute` dispatches by the kind of operation.
//! 3. `item`, `read`, `batch`, `transaction`, `table`, `update_table`, `resource` and `stream` build the SDK's
//!    request: `expressions` formats parsed expressions with placeholders, `value` converts values.
//! 4. The SDK signs, sends, and retries when the service throttles or does not respond. `resend` prevents it from
//!    repeating a write that may have been applied and is not idempotent.
//! 5. The same modules convert the response to a [`keyform_core::Output`], with `capacity` for the consumed capacity;
//!    `failure` converts an error of the service to a [`keyform_core::Error`] with its code, message, item and
//!    cancellation reasons.

#![warn(unreachable_pub)]

mod batch;
mod capacity;
mod connect;
mod description;
mod execute;
mod expressions;
mod failure;
mod item;
mod read;
mod resend;
mod resource;
mod stream;
mod table;
mod transaction;
mod trust;
mod update_table;
pub mod value;

pub use connect::{Credentials, Options, Remote, Timeouts};
pub use trust::TrustError;
