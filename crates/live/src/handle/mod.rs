//! Handlers: application code that runs on changes, as in `on Message insert -> handler notify`.
//!
//! ```text
//! shard ─► lease ─► records ─► handlers, each retried with exponential backoff ─► checkpoint ─► …
//!                                   └► still failing: a dead letter, kept until it is retried
//! ```
//!
//! 1. [`Handlers`] holds the code of each handler that the model names, and checks that none is missing.
//! 2. `supervise` distributes the shards of a table's stream among all instances of the program: each shard has one
//!    reader at a time, children after parents. A lease that is not renewed passes to another instance with a higher
//!    fence; checkpoints are only accepted under the current fence.
//! 3. `shard` reads one shard and calls the handlers. Delivery is at least once: after a crash a change is delivered
//!    again with the same id, which lets a handler make its effect idempotent.
//! 4. `ledger` stores leases, checkpoints and dead letters in a table of the same store.
//! 5. [`DeadLetters`] is for operators: lists letters, discards them, or requests a retry by a program that has the
//!    code.

mod change;
mod handlers;
mod ledger;
mod letters;
mod shard;
mod supervise;

pub use change::EntityChange;
pub use handlers::{Begin, HandleError, HandlerSettings, Handlers, Redriven, RunningHandlers};
pub use ledger::DeadLetter;
pub use letters::DeadLetters;
