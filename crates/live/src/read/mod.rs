//! Live reads: the answer of a read, and then every change of it.
//!
//! ```text
//! subscribe ─► may the caller? ─► hub of the table, held ─► page ─► hub has passed the page ─► page made true ─► changes …
//! resume    ─► may the caller? ─► hub of the table, held ─► feed from the token until it meets the hub ──────► changes …
//! ```
//!
//! 1. [`Live::subscribe`] asks the guards (`guard`), registers with the `hub` of the read's table and reads the first page.
//! 2. Between registering and the page, changes are held back; they are put into the page before it is given. So the page is the answer
//!    at exactly its token, and each later change comes once, after it.
//! 3. The hub is the only reader of the table's feed. It finds the `topic`s that a change may concern by an index over keys; a topic decides
//!    what the change is to its read (insert, change, removal or nothing) once for all subscribers, who share the outcome.
//! 4. Subscribers have an [`Outbox`] of bounded size. One that is not emptied in time ends with [`Ended::Slow`].
//! 5. A subscriber whose guard rests on an item that changes is held until the guard has been asked again.
//! 6. [`Figures`] say how many follow, what they were told, and how far feeds are behind.

mod event;
mod figures;
mod guard;
mod hub;
mod live;
mod outbox;
mod subscriber;
mod token;
mod topic;

pub use event::{Delivery, Ended, Kind, LiveChange, LiveError, LiveEvent, LiveItem, LivePage};
pub use figures::{EndedFigures, Figures};
pub use live::{Live, LiveStream, Settings, Subscription};
pub use outbox::Outbox;
