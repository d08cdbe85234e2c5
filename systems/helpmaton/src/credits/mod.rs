//! Credits: the balance of a workspace, reservations of calls, and their costs (ADR 0023).
//!
//! Life of a call:
//!
//! 1. [`estimate()`] estimates its tokens from the model's input; the price table converts them to money.
//! 2. [`reserve()`] checks the plan's request limit, then all spending limits, and reserves the estimate if the balance
//!    covers it. Workspaces with their own provider key reserve nothing.
//! 3. [`settle()`] records the actual cost: the difference is returned or charged. [`refund()`] records that the call
//!    was never made.
//! 4. [`expire_due`], a job, returns reservations that were not closed within 15 minutes.
//!
//! Credit is added by [`purchase()`], which a shop may report twice, and by [trial credit](trial).
//!
//! Each step is one transaction and idempotent. At every moment
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
