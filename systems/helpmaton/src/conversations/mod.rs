//! Conversations of any length.
//!
//! The first messages stand in the conversation's own item, up to 40 of them and 48,000 bytes; from the first that finds no room there all later ones are items of
//! their own ([`append()`] decides). So an ordinary conversation is one read, a long one never meets the limit of an item, and the order is plain: what stands in the
//! item, then the others by their ids, which are made of their [`place`].
//!
//! Of two messages that come at once both are kept, one after the other. A message has an id; one that is delivered again is recognised.

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
