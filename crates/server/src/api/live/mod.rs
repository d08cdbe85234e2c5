//! Live reads over WebSocket: `/v1/{model}/live`.
//!
//! 1. `upgrade` makes the handshake (RFC 6455); the connection is then no longer HTTP.
//! 2. `session` reads what the client sends and sends what it is told, with a ping now and then, until one of both leaves.
//! 3. `access` knows who the client is: by the headers of the handshake, a subprotocol, or its first message.
//!
//! What is followed, and how, is the business of [`keyform_live`]; what messages look like, of [`keyform_live::message`].

mod access;
mod session;
mod upgrade;

pub(crate) use upgrade::{Upgrade, answer, is_wanted};
