//! What tests of models and of the systems run on. The library's own tests use it too.
//!
//! 1. [`Store`] is one of the stores: the embedded engine, our server through the AWS SDK, and ExtendDB through the AWS SDK where
//!    `KEYFORM_EXTENDDB_URL` says where one listens. [`stage`] names tables of one's own on a store that others have too.
//! 2. [`ManualWorld`] is a world whose clock moves on request, [`Clock`] is a time that tests set, [`Counted`] one with ids that count, [`Dice`] are numbers that look random.
//! 3. [`on_every_store`] runs a scenario on each store, with what an application needs: a [`Scene`].
//! 4. [`Site`] serves an application over real HTTP.
//! 5. [`eventually`] waits for an index that lags behind, [`CaughtUp`] for every one that is read; [`contents`] are all items of a table.
//! 6. [`fault`] has stores that die, lose answers, or see conflicts; [`Counting`] counts what a store is asked for.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod caught_up;
mod clock;
mod contents;
mod counted;
mod counting;
mod dice;
mod eventually;
pub mod fault;
mod scene;
mod site;
mod store;

pub use caught_up::CaughtUp;
pub use clock::Clock;
pub use contents::contents;
pub use counted::Counted;
pub use counting::Counting;
pub use dice::Dice;
pub use eventually::eventually;
pub use keyform_world::testing::ManualWorld;
pub use scene::{Scene, on_embedded, on_every_store};
pub use site::{Answer, Site};
pub use store::{Store, connect, stage};
