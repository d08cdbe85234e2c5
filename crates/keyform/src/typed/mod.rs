//! What typed code stands on: the code that [`model!`](crate::model!) makes of a model, and `keyform generate rust` prints.
//!
//! The life of a typed call:
//!
//! 1. A method of the model's handle starts a [`Call`] on its [`Calls`] and adds its arguments, each a [`ToAttribute`].
//! 2. The call goes to the model's runner, as every other road to a pattern does: nothing is decided here.
//! 3. What was found becomes structs by [`FromAttributes`], which [`record!`](crate::record) implements; a page is a [`Page`],
//!    and [`Pages`] follows cursors to the end.
//! 4. A refusal becomes a variant of the write's own enum by [`Outcome`], which [`outcomes!`](crate::outcomes) implements;
//!    everything else that goes wrong is a [`CallError`].
//!
//! [`FromChange`] is how a change of a stream becomes a variant of a model's enum of changes.

mod attribute;
mod binary;
mod call;
mod change;
mod error;
mod id;
mod json;
mod number;
mod one_of;
mod options;
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
pub use keyform_runtime::run::Resumed;
pub use number::{Decimal, Money};
pub use options::ModelOptions;
pub use outcome::{Nothing, Outcome, current, refused};
pub use pages::{Items, Page, Pages, PagesStream};
pub use record::{FromAttributes, FromFound, Named, take, value_of};
pub use secret::Secret;
pub use time::{Date, Epoch, EpochMs, Timestamp};
