//! Assistant for teams: tenants, channels, conversations.
//!
//! `t3nets.kf` defines all data access: keys, guards, transactions. [`model`] is its typed code. The other modules
//! combine several patterns, in the order in which a message passes them:
//!
//! 1. [`tenants`] are onboarded, with [`settings`] that have defaults.
//! 2. [`channels`] belong to one tenant each; secret ids are hashed.
//! 3. [`messages`]: determines tenant and user of a message from a channel.
//! 4. [`conversations`]: history of thirty days, with a daily limit.
//! 5. [`sample`]: sample data for new users.

pub mod channels;
pub mod conversations;
pub mod messages;
pub mod sample;
pub mod settings;
pub mod tenants;

/// Typed code of `t3nets.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("t3nets.kf");
}

mod application;

pub use application::application;
pub use model::T3nets;

/// Source of the model.
pub const MODEL: &str = include_str!("../t3nets.kf");
