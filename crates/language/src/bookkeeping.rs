//! Names of the tables that Keyform stores beside a model's own tables.
//!
//! The runtime reads and writes them, `deploy` creates them, and generated IAM policies grant access to them.

/// Answers of writes that were called with an idempotency key.
pub const ANSWERS: &str = "keyform-answers";

/// Deletes whose cascade has not finished.
pub const CASCADES: &str = "keyform-cascades";

/// States of open evolutions.
pub const MIGRATIONS: &str = "keyform-migrations";

/// Accepted version of each model.
pub const MODELS: &str = "keyform-models";
