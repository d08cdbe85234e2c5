//! The embedded database: durable, encrypted, ordered.

pub mod keys;
pub mod store;
