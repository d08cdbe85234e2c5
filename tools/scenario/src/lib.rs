//! What the systems' scenario tests run on.
//!
//! 1. [`on_every_store`] runs a scenario on the embedded engine, on our server through the AWS SDK, and on ExtendDB through the AWS SDK where
//!    `KEYFORM_EXTENDDB_URL` says where one listens.
//! 2. [`Clock`] is a time that tests set.
//! 3. [`Site`] serves an application over real HTTP.
//! 4. [`eventually`] waits for an index that lags behind.
//! 5. [`fault`] has stores that die, lose answers, or see conflicts.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod clock;
mod eventually;
pub mod fault;
mod site;
mod store;

pub use clock::Clock;
pub use eventually::eventually;
pub use site::{Answer, Site};
pub use store::{Scene, Store, on_embedded, on_every_store};
