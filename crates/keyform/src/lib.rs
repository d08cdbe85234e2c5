//! DynamoDB-compatible database to embed in a program, open on a directory, or serve.
//!
//! ```
//! use keyform::{Attributes, Database};
//! use keyform::operation::{CreateTable, GetItem, PutItem};
//! use keyform::table::{BillingMode, KeySchema, ScalarType};
//!
//! # fn main() -> Result<(), keyform::Error> {
//! let database = Database::in_memory();
//! database.call_blocking(CreateTable {
//!     attributes: [("pk".to_owned(), ScalarType::S)].into(),
//!     key: KeySchema { partition: vec!["pk".to_owned()], sort: vec![] },
//!     billing: BillingMode::PayPerRequest,
//!     ..CreateTable::named("users")
//! })?;
//!
//! let item: Attributes = [("pk".to_owned(), "USER#1".into()), ("name".to_owned(), "Ada".into())].into();
//! let put = PutItem { table: "users".to_owned(), item: item.clone(), ..Default::default() };
//! database.call_blocking(put)?;
//!
//! let key = [("pk".to_owned(), "USER#1".into())].into();
//! let get = GetItem { table: "users".to_owned(), key, ..Default::default() };
//! let output = database.call_blocking(get)?;
//! assert_eq!(output.item.map(|item| item.to_attributes()), Some(item));
//! # Ok(())
//! # }
//! ```
//!
//! [`Database::open`] does the same on a directory, where an acknowledged write survives a power failure.
//! [`Database::call`] is the async version and works on any runtime. [`serve`] gives AWS SDKs access to a database,
//! and callers access to the patterns of [`ModelFiles`].

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

/// Compiles and runs the examples of the page on typed Rust.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rust.md")]
struct TypedRust;

/// Compiles and runs the example of the page on applications.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/applications.md")]
struct Applications;

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub use keyform_core::{
    AttributeValue, Attributes, Error, ErrorCode, Execute, ExecuteExt, Item, Number, Operation, Output, Value,
    ValueRef, capacity, error, execute, expression, limits, operation, statement, table, value,
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
