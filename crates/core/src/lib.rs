//! DynamoDB's vocabulary, without I/O, clock, JSON or async runtime.
//!
//! The life of a request through this crate:
//! 1. Somebody (the wire, a model, a library user) builds an [`operation::Operation`] out of [`value::AttributeValue`]s and
//!    parsed [`expression`]s.
//! 2. An [`execute::Execute`] runs it: conditions and updates are evaluated here, over the compact [`value::Item`].
//! 3. The answer is an [`operation::Output`], or an [`error::Error`] whose code and text are the service's.
//!
//! Sizes and prices come from [`capacity`] and [`limits`]; what a table looks like is in [`table`].

pub mod capacity;
pub mod error;
pub mod execute;
pub mod expression;
pub mod limits;
pub mod operation;
pub mod statement;
pub mod table;
pub mod value;

pub use error::{Error, ErrorCode};
pub use execute::Execute;
pub use operation::{Operation, Output};
pub use value::{AttributeValue, Attributes, Item, Number, Value, ValueRef};
