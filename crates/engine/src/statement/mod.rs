//! PartiQL statements, translated to the engine's other operations.
//!
//! 1. [`schema`] contains what a statement needs to know about its table.
//! 2. [`pins`] finds the partition keys that a WHERE clause fixes.
//! 3. [`select`] translates a SELECT to queries or a scan, [`write`](mod@write) an INSERT, UPDATE, DELETE or EXISTS to
//!    one write.
//! 4. [`shape`] reduces the items of a response to the selected columns; [`token`] marks the start of the next page.
//! 5. `run` combines these for `ExecuteStatement`, `BatchExecuteStatement` and `ExecuteTransaction`.

pub mod pins;
mod run;
pub mod schema;
pub mod select;
pub mod shape;
mod span;
pub mod token;
pub mod write;

#[cfg(test)]
mod tests;
