//! How items of an older form become the new one, while readers and writers go on.
//!
//! 1. [`form`]: the two forms of an entity; which of them an item is of, and how it becomes the other.
//! 2. [`find`]: where the old items are that become what somebody asks for.
//! 3. [`carry`](carry()): one item carried over, atomically: the new item is written and the old one marked, or nothing happens.
//! 4. [`state`]: the phase of a migration, who runs it and how far it came, kept in the store.
//! 5. [`Migration`]: all of it for a model: `tables` makes what the new form needs, `backfill` carries every item over, `finish` compares,
//!    cuts over or goes back, `estimate` says beforehand what it will take.
//!
//! The patterns of a model read both forms meanwhile: see [`run`](crate::run).

mod backfill;
mod carry;
mod derived;
mod estimate;
pub mod find;
mod finish;
pub mod form;
mod join;
pub mod mark;
mod migration;
pub mod state;
mod tables;
mod text;

pub use backfill::Ran;
pub use carry::{Carried, carry};
pub use estimate::{Estimate, FormEstimate, Reach, ReadEstimate};
pub use finish::{RolledBack, Verified};
pub use form::{Class, Form, Side};
pub use mark::{MARK, Mark};
pub use migration::{MigrateError, Migration, Pace, Progress, Watch};
