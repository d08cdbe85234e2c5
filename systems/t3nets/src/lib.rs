//! An assistant for teams: tenants, channels, conversations.
//!
//! Everything that touches data is said in `t3nets.kf`: keys, guards, what is one transaction. [`model`] is the typed code of it; what needs more
//! than one pattern stands beside it, in the order in which a message meets it:
//!
//! 1. [`tenants`] are taken in, with [`settings`] that have defaults.
//! 2. [`channels`] belong to one tenant each; ids that are secrets are hashed.
//! 3. [`messages`]: of which tenant and which user a message from a channel is.
//! 4. [`conversations`]: what was said, kept thirty days, with a limit for each day.
//! 5. [`sample`]: what a newcomer finds.

pub mod channels;
pub mod conversations;
pub mod messages;
pub mod sample;
pub mod settings;
pub mod tenants;

/// The typed code of `t3nets.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("t3nets.kf");
}

mod application;

pub use application::application;
pub use model::T3nets;

/// The text of the model.
pub const MODEL: &str = include_str!("../t3nets.kf");
