//! Calls patterns by name, as the HTTP API does, and seals fields. Generated code does both.

/// Calls of patterns.
pub mod run {
    pub use keyform_runtime::run::{Answer, Call, Caller, Found, RunError, RunSettings, Runner};
}

/// Accepted versions of models, kept in the store.
pub mod accept {
    pub use keyform_runtime::accept::{NotAccepted, Reason};
}

/// Keys of encrypted fields.
pub mod seal {
    pub use keyform_runtime::seal::{Keyring, SealError};
}
