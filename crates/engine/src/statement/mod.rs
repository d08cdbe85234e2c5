//! PartiQL statements, lowered to the operations that the engine has anyway.
//!
//! 1. [`schema`] is what a statement needs to know of its table.
//! 2. [`pins`] finds out which keys a WHERE clause pins down.
//! 3. [`select`] makes queries or a scan of a SELECT, [`write`](mod@write) one write of an INSERT, UPDATE, DELETE or EXISTS.
//! 4. [`shape`] gives the items of an answer the columns that were selected; [`token`] is where the next page starts.
//! 5. `run` puts these together for ExecuteStatement, BatchExecuteStatement and ExecuteTransaction.

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
