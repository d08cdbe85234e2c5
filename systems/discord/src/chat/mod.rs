//! Logic of the terminal client, independent of the transport.
//!
//! 1. [`Command`] is a parsed line.
//! 2. [`Chat`] executes it over a [`Link`]: calls of patterns and flows, and live reads of what it displays. It is
//!    independent of HTTP and terminals.
//! 3. `transcript` numbers messages, and converts events of live reads to lines.

mod command;
mod link;
mod session;
mod transcript;

pub use command::{Command, HELP};
pub use link::{Link, Trouble};
pub use session::{Chat, Said, Visitor};
