//! Code that runs on changes: `on Message insert -> handler notify`.
//!
//! ```text
//! shard ─► lease ─► records ─► handlers, each tried again with growing pauses ─► checkpoint ─► …
//!                                   └► still failing: a dead letter, kept until it is driven again
//! ```
//!
//! 1. [`Handlers`] has the code for each handler that the model names, and checks that none is missing.
//! 2. `supervise` shares the shards of a table's stream between all copies of the program: each shard has one reader at a time, children after
//!    parents. A lease that is not renewed passes to another copy, with a higher number (a fence) under which alone checkpoints are taken.
//! 3. `shard` reads one shard and calls the handlers. A change is delivered at least once: again after a crash, under the same id, by which a handler
//!    makes its effect happen once.
//! 4. `ledger` keeps leases, checkpoints and dead letters in a table of the same store.
//! 5. [`DeadLetters`] is for those who look after a program: letters are listed, dropped, or tried again by a program that has the code.

mod change;
mod handlers;
mod ledger;
mod letters;
mod shard;
mod supervise;

pub use change::EntityChange;
pub use handlers::{Begin, HandleError, Handlers, Redriven, RunningHandlers, Settings};
pub use ledger::DeadLetter;
pub use letters::DeadLetters;
