//! Placeholder.

pub mod partiql;
