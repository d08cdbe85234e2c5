//! What a terminal client says and shows, whatever carries it to the server.
//!
//! 1. [`Command`] is what a line that somebody typed asks for.
//! 2. [`Chat`] does it over a [`Link`]: calls of patterns and flows, and live reads of what is shown. It knows neither HTTP nor terminals.
//! 3. `transcript` gives messages numbers, and turns what a live read tells into lines.

mod command;
mod link;
mod session;
mod transcript;

pub use command::{Command, HELP};
pub use link::{Link, Trouble};
pub use session::{Chat, Said, Visitor};
