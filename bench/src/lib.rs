//! Shared code of the programs of this crate: the [`generator`] of HTTP load.

pub mod generator;
