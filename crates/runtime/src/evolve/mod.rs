//! Migrates items from an old form to a new one while the application keeps reading and writing (ADR 0015).
//!
//! 1. `form`: the two forms of an entity; classifies items and converts them.
//! 2. `find`: finds the old items that become the requested new ones.
//! 3. [`carry`](carry()): migrates one item atomically: writes the new item and marks the old one, or does nothing.
//! 4. [`state`]: phase, lease and checkpoints of a migration, kept in the store.
//! 5. [`Migration`]: all evolutions of a model. `tables` creates what the new form needs, `backfill` migrates every
//!    item, `finish` verifies, cuts over or rolls back, `estimate` predicts the cost.
//!
//! The patterns of a model read both forms in the meantime: see [`run`](crate::run).

mod backfill;
mod carry;
mod derived;
mod estimate;
pub(crate) mod find;
mod finish;
mod form;
mod join;
mod mark;
mod migration;
pub mod state;
mod tables;
mod unchanged;

pub use backfill::Ran;
pub use carry::{Carried, carry};
pub use estimate::{Estimate, FormEstimate, Reach, ReadEstimate};
pub use find::batch_get;
pub use finish::{RolledBack, Verified};
pub use form::{Class, Form, Side};
pub use mark::Mark;
pub use migration::{MigrateError, Migration, Pace, Progress, Watch};
