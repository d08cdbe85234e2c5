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
//!
//! | task | names |
//! |---|---|
//! | embed the database | [`Database`], [`Options`], the requests in [`operation`], [`table`] and [`expression`] |
//! | call a model from Rust | [`model!`], [`ModelOptions`], [`CallError`], the types of fields such as [`Ulid`] and [`Money`] |
//! | write an application | [`application`], [`flow`], [`live`] |
//! | serve it | [`serve`], [`serve_models`], [`ModelFiles`], [`server`] |
//! | run on Amazon DynamoDB | `aws`, with the feature of that name |
//! | check, run, deploy and migrate models without generated code | [`language`], [`runtime`], [`Rehearse`] |
//! | keys of encrypted fields and of cursors | [`field_keys`], [`cursor_key`] |
//! | move tables | [`transfer`] |
//!
//! [`typed`] supports generated code. The list is reviewed: a test compares it with `tests/public_api.txt`. A program
//! that needs more depends on the crate below, such as `keyform-language`, which makes no promise of stability.

pub mod application;
#[cfg(feature = "aws")]
pub mod aws;
pub mod cursor_key;
pub mod error;
pub mod expression;
pub mod field_keys;
pub mod flow;
pub mod language;
pub mod live;
mod models;
mod rehearse;
mod remote_probe;
pub mod runtime;
mod serve;
pub mod server;
pub mod transfer;
pub mod typed;
pub mod value;

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
    ValueRef, World, capacity, execute, operation, statement, table, world,
};
pub use keyform_engine::encryption_keys::KeyError;
pub use keyform_engine::store::{Durability, StoreError};
pub use keyform_engine::{Database, Encryption, EngineSettings, OpenError, Options};
#[doc(inline)]
pub use keyform_macros::model;
pub use keyform_world::SystemWorld;
pub use models::{Ground, ModelFileError, ModelFiles, Reload};
pub use rehearse::{Rehearsal, Rehearse, RehearseError, Stage};
pub use serde;
pub use serde_json;
pub use serve::{serve, serve_models};
pub use typed::{
    Binary, CallError, ChangeEvent, Date, Decimal, EntityChange, Epoch, EpochMs, Items, ModelOptions, Money, Page,
    Pages, Secret, Timestamp, Ulid, Uuid,
};
