//! The accepted version of each model, kept in the store beside the items that it describes (ADR 0033).
//!
//! A model with another key template, tag or type reads existing items as if they were absent. The store therefore
//! remembers which version of a model its items were written with, and every program compares its own with it:
//!
//! 1. [`Candidate`]: a model that asks to be accepted: its JSON form, the hash of that form, and the id of its record.
//! 2. [`record`]: the record in the table `keyform-models`, changed by compare-and-set.
//! 3. [`review`](review()) compares a candidate with the record by the rules of `keyform check --against`;
//!    [`accept`](accept()) also records it.
//! 4. [`NotAccepted`]: the findings of a refused candidate.
//!
//! A [`Runner`](crate::run::Runner) accepts its model before its first call and looks at the record again every few
//! seconds: an instance whose model was replaced by an incompatible one stops.

mod candidate;
mod error;
pub mod record;
mod review;

pub use candidate::Candidate;
pub use error::{AcceptError, NotAccepted, Reason};
pub use record::{Record, model_table};
pub use review::{Accepted, accept, retire, review, verify};
