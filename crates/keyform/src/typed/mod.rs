//! Support library for the code that [`model!`](crate::model!) and `keyform generate rust` generate from a model (ADR
//! 0018). What only that code names is hidden in the documentation; what applications name is in the root of the crate.
//!
//! Life of a typed call:
//!
//! 1. A method of the model's handle starts a [`Call`] on its [`Calls`] and adds its arguments, each a [`ToAttribute`].
//! 2. The model's runner executes the call, as it does for the HTTP API; this module makes no decisions.
//! 3. [`FromAttributes`], implemented by [`record!`](crate::record), converts items to structs; a page is a [`Page`],
//!    and [`Pages`] follows cursors to the end.
//! 4. [`Outcome`], implemented by [`outcomes!`](crate::outcomes), converts a refusal to a variant of the write's own
//!    enum; every other failure is a [`CallError`].
//!
//! [`FromChange`] converts stream changes to variants of a model's enum.

pub(crate) mod attribute;
pub(crate) mod binary;
pub(crate) mod call;
pub(crate) mod change;
pub(crate) mod error;
pub(crate) mod id;
mod json;
pub(crate) mod number;
mod one_of;
mod outcome;
pub(crate) mod pages;
pub(crate) mod record;
pub(crate) mod secret;
pub(crate) mod time;

pub use attribute::FromAttribute;
pub use call::{Call, Parts};
pub use change::FromChange;
pub use outcome::{Nothing, Outcome, current, refused};
pub use record::{FromFound, Named, take, value_of};

use attribute::ToAttribute;
use call::Calls;
use error::{CallError, WrongItem, WrongText};
use keyform_flow::ModelOptions;
use keyform_runtime::run::Resumed;
use pages::{Page, Pages};
use record::FromAttributes;
use time::Timestamp;
