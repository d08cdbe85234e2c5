//! The embedded database: durable, encrypted, ordered.

pub mod store;
