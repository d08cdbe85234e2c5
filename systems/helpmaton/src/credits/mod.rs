//! Credit: what a workspace has, what calls set aside, what they cost.
//!
//! The life of a call:
//!
//! 1. [`estimate()`] guesses its tokens from what the model will be given; the price table makes money of them.
//! 2. [`reserve()`] looks at the plan's request limit, then at all spending limits, and sets the estimate aside if the balance has it. Who brings their own
//!    key to the provider reserves nothing.
//! 3. [`settle()`] says what the call cost: the difference goes back, or is taken. [`refund()`] says that it was never made.
//! 4. [`expire_due`], a job, gives back what nobody said anything about for 15 minutes.
//!
//! Credit comes by [`purchase()`], which a shop may tell twice, and by [trial credit](trial).
//!
//! Each step is one transaction, and doing it again changes nothing. At every moment
//! balance + open reservations = credits − settled costs.

pub mod estimate;
pub mod expire;
mod flows;
pub mod purchase;
pub mod reserve;
mod sample;
pub mod settle;
pub mod trial;

pub use estimate::{PlannedCall, estimate};
pub use expire::expire_due;
pub(crate) use flows::flows;
pub use purchase::purchase;
pub use reserve::{Reserve, ReserveError, Reserved, reserve};
pub(crate) use sample::sample;
pub use settle::{CloseError, refund, settle, settle_tokens};
