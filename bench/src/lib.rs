//! What the programs of this crate share: the [`generator`] of load over HTTP.

pub mod generator;
