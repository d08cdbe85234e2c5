//! Support library for the code that [`model!`](crate::model!) and `keyform generate rust` generate from a model (ADR
//! 0018).
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

mod attribute;
mod binary;
mod call;
mod change;
mod error;
mod id;
mod json;
mod number;
mod one_of;
mod outcome;
mod pages;
mod record;
mod secret;
mod time;

pub use attribute::{FromAttribute, ToAttribute};
pub use binary::Binary;
pub use call::{Call, Calls, Parts};
pub use change::{ChangeEvent, EntityChange, FromChange};
pub use error::{CallError, WrongItem, WrongText};
pub use id::{Form, Ulid, Uuid, check_text};
pub use keyform_flow::ModelOptions;
pub use keyform_runtime::run::Resumed;
pub use number::{Decimal, Money};
pub use outcome::{Nothing, Outcome, current, refused};
pub use pages::{Items, Page, Pages, PagesStream};
pub use record::{FromAttributes, FromFound, Named, take, value_of};
pub use secret::Secret;
pub use time::{Date, Epoch, EpochMs, Timestamp};
