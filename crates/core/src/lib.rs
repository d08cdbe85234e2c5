//! DynamoDB's data model and request types, without I/O, clock, JSON or async runtime.
//!
//! The life of a request through this crate:
//! 1. A caller (the wire protocol, a model, a library user) builds an [`operation::Operation`] from
//!    [`value::AttributeValue`]s and parsed [`expression`]s.
//! 2. An [`execute::Execute`] implementation runs it; [`execute::ExecuteExt`] adds typed requests. Conditions and
//!    updates are evaluated here, over the compact [`value::Item`].
//! 3. The result is an [`operation::Output`], or an [`error::Error`] with DynamoDB's error code and message.
//!
//! [`capacity`] and [`limits`] hold the size and capacity-unit rules; [`table`] holds key schemas, indexes and table
//! descriptions. [`world`] provides the clock, timer and randomness for all crates above.

#![warn(unreachable_pub)]

pub mod capacity;
pub mod error;
pub mod execute;
pub mod expression;
pub mod limits;
pub mod operation;
pub mod statement;
pub mod table;
pub mod value;
pub mod world;

pub use error::{Error, ErrorCode};
pub use execute::{Execute, ExecuteExt};
pub use operation::{Operation, Output};
pub use value::{AttributeValue, Attributes, Item, Number, Value, ValueRef};
pub use world::World;
