//! Operations run on Amazon DynamoDB, ScyllaDB Alternator or any other endpoint that speaks DynamoDB's protocol, through the
//! official AWS SDK. It knows neither models nor the embedded engine.
//!
//! The life of an operation:
//!
//! 1. [`Remote::connect`] has read the usual AWS environment and profile, and `trust` the certificates; nothing is sent before the first operation.
//! 2. `execute` picks the request by the operation's kind.
//! 3. `item`, `read`, `batch`, `transaction`, `table`, `update_table`, `resource` and `stream` fill in the SDK's request: `expressions` prints parsed expressions with
//!    placeholders, `value` turns values into the SDK's.
//! 4. The SDK signs, sends, and tries again when the service throttles or does not answer; `resend` keeps it from sending a write again that may have been
//!    applied and would do more when done twice.
//! 5. The same files turn the answer into a [`keyform_core::Output`], with `capacity` for consumption; `failure` turns what the
//!    service reported into a [`keyform_core::Error`] with its code, text, item and cancellation reasons.

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
