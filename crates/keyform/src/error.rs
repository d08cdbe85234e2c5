//! Data that the errors of operations carry beside code and message.

pub use keyform_core::error::{CancellationCause, CancellationReason, Detail};
