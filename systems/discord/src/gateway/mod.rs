//! Delivers table changes to listening connections (ADR 0022).
//!
//! ```text
//! stream ─► feed ─► discord.change(record) ─► Event and its audience ─► rows of connections ─► Deliver ─► mailboxes
//!                                                                                          └► gone: its rows are deleted
//! ```
//!
//! 1. `event` converts a change to a chat event: a message was written, a user joined or left. Read marks concern no
//!    other user.
//! 2. [`Gateway`] finds the connections of the audience, and hands the event to each through [`Deliver`].
//! 3. [`Mailboxes`] queue events for the connections of this process; a remote gateway would be another [`Deliver`].
//! 4. [`Known`] is for the receiving end.
//!
//! Delivery is at least once and in order per item. A failed event is delivered again, so some receivers get it twice.
//! Every message event carries the whole message, and [`Known`] filters duplicates by its id and `updatedAt`.

mod audience;
mod event;
mod fan_out;
mod known;
mod mailbox;

pub use audience::Audience;
pub use event::{Event, What};
pub use fan_out::{Deliver, Following, Gateway, GatewayError, Stepped, Undelivered};
pub use known::Known;
pub use mailbox::{Mailboxes, Numbered};
