//! A chat: servers, channels, messages, live.
//!
//! Everything that touches data is said in `discord.kf`: keys, guards, what is one transaction. [`model`] is the typed code of it; what needs more
//! than one pattern stands beside it:
//!
//! 1. [`account`]: registering, logging in, passwords ([`password`]).
//! 2. [`servers`], [`unread`], [`search`]: lists as people see them.
//! 3. [`connections`]: listening to a channel, presence, typing.
//! 4. [`gateway`]: from changes in the table to those who listen.
//! 5. [`chat`]: what a terminal client says and shows.
//! 6. [`sample`] data, and [`application`], which puts all of it together for a server.

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

/// The typed code of `discord.kf`.
#[allow(missing_docs, reason = "the model documents what its author wanted to")]
pub mod model {
    keyform::model!("discord.kf");
}

pub use application::{application, application_with};
pub use service::{Service, Settings};

/// The text of the model.
pub const MODEL: &str = include_str!("../discord.kf");
