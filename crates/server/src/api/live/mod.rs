//! Live reads over WebSocket: `/v1/{model}/live` (ADR 0016).
//!
//! 1. `upgrade` performs the handshake (RFC 6455) and takes the connection out of HTTP.
//! 2. `session` handles the client's messages, sends events and pings, and runs until either side closes.
//! 3. `access` identifies the client: by the headers of the handshake, a subprotocol, or its first message.
//!
//! [`keyform_live`] follows the reads; [`keyform_live::message`] defines the message format.

mod access;
mod session;
mod upgrade;

pub(crate) use upgrade::{Upgrade, answer, is_wanted};
