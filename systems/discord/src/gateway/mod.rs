//! From changes in the table to those who listen.
//!
//! ```text
//! stream ─► feed ─► discord.change(record) ─► Event and its audience ─► rows of connections ─► Deliver ─► mailboxes
//!                                                                                          └► gone: its rows are deleted
//! ```
//!
//! 1. `event` says what a change means to people: a message was written, somebody joined, somebody is gone. Read marks mean nothing to others.
//! 2. [`Gateway`] finds the connections that it is for, and hands it to each by [`Deliver`].
//! 3. [`Mailboxes`] keep events for the connections of this process until they are taken; a gateway elsewhere is another [`Deliver`].
//! 4. [`Known`] is for the receiving end.
//!
//! Delivery is at least once, in order per item: what fails is read and delivered again, so that some get it twice. Every event of a message
//! carries the whole message, and [`Known`] tells by its id and `updatedAt` what is news.

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
