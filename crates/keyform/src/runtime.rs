//! Runs, deploys and migrates models that are known only at run time, and seals fields.

/// Calls of patterns.
pub mod run {
    pub use keyform_runtime::run::{Answer, Call, Caller, Found, Resumed, RunError, RunSettings, Runner};
}

/// Changes of the tables of a store to match a model.
pub mod deploy {
    pub use keyform_runtime::deploy::{DeployError, Event, Patience, Plan, Report, Request, apply, prepare, ready};
}

/// Migrations of items to a new form of the model.
pub mod evolve {
    pub use keyform_runtime::evolve::{MigrateError, Migration, Pace, Progress};

    /// Recorded state of a migration.
    pub mod state {
        pub use keyform_runtime::evolve::state::{Counts, Phase, State};
    }
}

/// Keys of encrypted fields.
pub mod seal {
    pub use keyform_runtime::seal::{FieldKey, KeyId, Keyring, SealError};
}
