//! Agencies and their members: a small directory.
//!
//! `agencies.kf` defines all data access: keys, guards, transactions. [`model`] is its typed code. The other modules
//! combine several patterns:
//!
//! 1. [`dissolution`]: deletes an agency of any size with its members; after an interruption the next process finishes
//!    it.
//! 2. [`memberships`]: the agencies of a person, with their names.
//! 3. [`access`]: the current permission to act for an agency.
//! 4. [`sample`]: sample data for new users.

pub mod access;
pub mod dissolution;
pub mod memberships;
pub mod sample;

/// Typed code of `agencies.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("agencies.kf");
}

mod application;

pub use application::application;
pub use model::Agencies;

/// Source of the model.
pub const MODEL: &str = include_str!("../agencies.kf");
