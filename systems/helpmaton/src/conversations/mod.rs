//! Conversations of any length.
//!
//! The first messages are in the conversation's own item, up to 40 of them and 48,000 bytes. From the first message
//! that does not fit, all later ones are separate items ([`append()`] decides). An ordinary conversation therefore
//! takes one read, a long one never exceeds the limit of an item, and the order is simple: the inline messages, then
//! the others by their ids, which encode their [`place`].
//!
//! Concurrent messages are both kept, one after the other. Messages have ids, so that repeated deliveries are
//! recognized.

pub mod append;
mod flows;
pub mod place;
mod read;
mod remove;
mod start;

pub use append::{Said, append};
pub(crate) use flows::flows;
pub use read::{Whole, whole};
pub use remove::{remove, remove_of_agent};
pub use start::{Start, start};
