//! Live reads: the result of a read, followed by every change of it (ADR 0016).
//!
//! ```text
//! subscribe ─► permission ─► register with hub, hold ─► page ─► hub past the page ─► merge held changes ─► changes …
//! resume    ─► permission ─► register with hub, hold ─► own feed from the token to the hub's position ───► changes …
//! ```
//!
//! 1. [`Live::subscribe`] checks permission (`guard`), registers with the `hub` of the read's table and reads the
//!    first page.
//! 2. Between the registration and the page, changes are held back; they are merged into the page before it is sent.
//!    So the page is the result at exactly its token, and each later change is delivered once, after it.
//! 3. The hub is the only reader of the table's feed. It finds the `topic`s that a change may affect by an index over
//!    keys; a topic decides once for all its subscribers what the change is to its read: insert, modify, remove or
//!    nothing.
//! 4. Subscribers have an [`Outbox`] of bounded size. One that is not drained in time ends with [`Ended::Slow`].
//! 5. A subscriber whose guard depends on a changed item is held until the guard has been evaluated again.
//! 6. [`Figures`] are metrics: subscriptions, deliveries, and the lag of feeds.

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
pub use live::{Live, LiveSettings, LiveStream, Subscription};
pub use outbox::Outbox;
