//! Agencies and their members: a small directory.
//!
//! Everything that touches data is said in `agencies.kf`: keys, guards, what is one transaction. [`model`] is the typed code of it; what needs more
//! than one pattern stands beside it:
//!
//! 1. [`dissolution`]: an agency of any size is deleted with its members, and a process that stops in the middle leaves nothing that is not
//!    finished by the next.
//! 2. [`memberships`]: the agencies of a person, with their names.
//! 3. [`access`]: whether somebody may act for an agency, as of now.
//! 4. [`sample`]: what a newcomer finds.

pub mod access;
pub mod dissolution;
pub mod memberships;
pub mod sample;

/// The typed code of `agencies.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("agencies.kf");
}

mod application;

pub use application::application;
pub use model::Agencies;

/// The text of the model.
pub const MODEL: &str = include_str!("../agencies.kf");
