//! Mutation test of the permission proof.
//!
//! 1. [`operator`] lists the ways in which a model is weakened; each changes one place of the syntax tree. The mutants of
//!    permissions, steps, keys and fields are in the modules of these names; `place` finds the expressions of a
//!    declaration.
//! 2. `part` reduces a model to the patterns that a change may affect, so that a trial takes milliseconds.
//! 3. [`verdict`] judges a mutant twice: by the new findings of the checker, and by the calls of the isolation trial.
//! 4. [`score`] counts, by operator, the mutants that widen access, and those that neither judge reports.
//!
//! [`models`] draws random models for comparing both judges.

mod field;
mod key;
pub mod models;
pub mod operator;
mod part;
mod permission;
mod place;
pub mod score;
mod step;
pub mod verdict;

pub use operator::{Mutant, Operator, mutants};
