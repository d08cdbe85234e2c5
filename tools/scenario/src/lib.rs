//! Test support for models and systems. The library's own tests use it too.
//!
//! 1. [`Store`] is one of the stores: the embedded engine, our server through the AWS SDK, and ExtendDB through the AWS
//!    SDK if `KEYFORM_EXTENDDB` names its binary. [`stage`] gives a test its own tables on a shared store.
//! 2. [`ManualWorld`] is a world whose clock moves on request, [`Clock`] is a time that tests set, [`Counted`] a
//!    counting clock with counting ids, [`Dice`] are pseudo-random numbers.
//! 3. [`on_every_store`] runs a scenario on each store, with everything that an application needs: a [`Scene`].
//! 4. [`Site`] serves an application over real HTTP.
//! 5. [`eventually`] waits for an index that lags behind, [`CaughtUp`] for every index that is read; [`contents`]
//!    returns all items of a table.
//! 6. [`fault`] has stores that die, lose answers, or meet conflicts; [`Counting`] counts the requests of a store.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod caught_up;
mod clock;
mod contents;
mod counted;
mod counting;
mod dice;
mod eventually;
mod extenddb;
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
