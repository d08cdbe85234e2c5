//! Chat with servers, channels, messages and live updates.
//!
//! `discord.kf` defines all data access: keys, guards, transactions. [`model`] is its typed code. The other modules
//! combine several patterns:
//!
//! 1. [`account`]: registration, log-in, passwords ([`password`]).
//! 2. [`servers`], [`unread`], [`search`]: lists for display.
//! 3. [`connections`]: listening to a channel, presence, typing.
//! 4. [`gateway`]: delivers table changes to listeners.
//! 5. [`chat`]: logic of the terminal client.
//! 6. [`sample`] data, and [`application`], which combines everything for a server.

pub mod account;
mod application;
pub mod chat;
pub mod connections;
pub mod gateway;
mod limits;
pub mod password;
pub mod sample;
pub mod search;
pub mod servers;
mod service;
pub mod unread;

/// Typed code of `discord.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("discord.kf");
}

pub use application::{application, application_with};
pub use service::{Service, Settings};

/// Source of the model.
pub const MODEL: &str = include_str!("../discord.kf");
