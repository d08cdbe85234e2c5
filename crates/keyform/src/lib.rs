//! A DynamoDB-compatible database to embed in a program, open on a directory, or serve.
//!
//! ```
//! use keyform::{Attributes, Database};
//! use keyform::operation::{CreateTable, GetItem, Operation, Output, PutItem};
//! use keyform::table::{BillingMode, KeySchema, ScalarType};
//!
//! # fn main() -> Result<(), keyform::Error> {
//! let database = Database::in_memory();
//! database.execute_blocking(Operation::CreateTable(CreateTable {
//!     attributes: [("pk".to_owned(), ScalarType::S)].into(),
//!     key: KeySchema { partition: vec!["pk".to_owned()], sort: vec![] },
//!     billing: BillingMode::PayPerRequest,
//!     ..CreateTable::named("users")
//! }))?;
//!
//! let item: Attributes = [("pk".to_owned(), "USER#1".into()), ("name".to_owned(), "Ada".into())].into();
//! let put = PutItem { table: "users".to_owned(), item: item.clone(), ..Default::default() };
//! database.execute_blocking(Operation::PutItem(put))?;
//!
//! let key = [("pk".to_owned(), "USER#1".into())].into();
//! let get = GetItem { table: "users".to_owned(), key, ..Default::default() };
//! let Output::GetItem(output) = database.execute_blocking(Operation::GetItem(get))? else { unreachable!() };
//! assert_eq!(output.item.map(|item| item.to_attributes()), Some(item));
//! # Ok(())
//! # }
//! ```
//!
//! [`Database::open`] does the same on a directory, where an acknowledged write survives a power cut.
//! [`Database::execute`] is the same for async code, on any runtime. [`serve`] lets any AWS SDK talk to a database,
//! and callers to the patterns of [`ModelFiles`].

#[cfg(feature = "aws")]
pub use keyform_aws as aws;
pub use keyform_codegen as codegen;

pub mod application;
pub mod copy;
pub mod cursor_key;
pub mod field_keys;
pub mod files;
pub mod isolation;
mod models;
mod rehearse;
mod remote_probe;
mod serve;
pub mod surroundings;
pub mod typed;

/// The examples of the page on typed Rust compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct TypedRust;

/// The example of the page on applications compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/applications.md")]
struct Applications;

/// The README's example compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub use keyform_core::{
    AttributeValue, Attributes, Error, ErrorCode, Execute, Item, Number, Operation, Output, Value, ValueRef, capacity,
    error, execute, expression, limits, operation, statement, table, value,
};
pub use keyform_engine::{Database, Encryption, OpenError, Options, env, keys, store};
pub use keyform_language as language;
pub use keyform_live as live;
#[doc(inline)]
pub use keyform_macros::model;
pub use keyform_runtime as runtime;
pub use keyform_server as server;
pub use models::{Ground, ModelFileError, ModelFiles, Reload, unnamed_table};
pub use rehearse::{Rehearsal, Rehearse, RehearseError, Stage};
pub use serde;
pub use serde_json;
pub use serve::{serve, serve_models};
pub use typed::{
    Binary, CallError, ChangeEvent, Date, Decimal, EntityChange, Epoch, EpochMs, Items, ModelOptions, Money, Page,
    Pages, Secret, Timestamp, Ulid, Uuid,
};
