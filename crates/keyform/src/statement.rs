//! Statements of PartiQL as trees.

pub use keyform_core::statement::{OrderBy, SelectStatement, Statement};
