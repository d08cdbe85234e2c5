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
//! | embed the database | [`Database`], [`Options`], [`ExecuteExt`] |
//! | call a model from Rust | [`model!`], [`ModelOptions`], [`CallError`], the types of fields such as [`Ulid`] and [`Money`] |
//! | call patterns by name | [`runtime`] |
//! | write an application | [`application`], [`flow`], [`live`] |
//! | serve it | [`serve`], [`serve_models`], [`ModelFiles`], [`server`] |
//! | run on Amazon DynamoDB | `aws`, with the feature of that name |
//!
//! The data of store requests is one group: [`operation`] has the requests and their outputs; [`table`], [`expression`],
//! [`value`], [`capacity`], [`statement`] and [`error`] have their parts.
//!
//! The list is reviewed: a test compares it with `tests/public_api.txt`. A program that needs more, such as deployment,
//! migration or copies of tables, depends on a crate below (`keyform-runtime`, `keyform-transfer`, `keyform-language`),
//! which makes no promise of stability.

#![warn(unreachable_pub)]

pub mod application;
#[cfg(feature = "aws")]
pub mod aws;
pub mod capacity;
pub mod error;
pub mod execute;
pub mod expression;
pub mod flow;
pub mod live;
mod models;
pub mod operation;
mod remote_probe;
pub mod runtime;
mod serve;
pub mod server;
pub mod statement;
pub mod table;
#[doc(hidden)]
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
    AttributeValue, Attributes, Error, ErrorCode, Execute, ExecuteExt, Item, Operation, Output, World,
};
pub use keyform_engine::encryption_keys::KeyError;
pub use keyform_engine::store::{Durability, StoreError};
pub use keyform_engine::{Database, Encryption, EngineSettings, OpenError, Options};
pub use keyform_flow::ModelOptions;
#[doc(inline)]
pub use keyform_macros::model;
pub use keyform_runtime::run::{BrokenItem, Resumed};
pub use keyform_world::SystemWorld;
pub use models::{Ground, ModelFileError, ModelFiles, Reload};
#[doc(hidden)]
pub use serde;
pub use serde_json;
pub use serve::{serve, serve_models};
pub use typed::attribute::ToAttribute;
pub use typed::binary::Binary;
pub use typed::call::Calls;
pub use typed::change::{ChangeEvent, EntityChange};
pub use typed::error::{CallError, WrongItem, WrongText};
pub use typed::id::{TextForm, Ulid, Uuid, check_text};
pub use typed::number::{Decimal, Money};
pub use typed::pages::{Items, Page, Pages, PagesStream};
pub use typed::record::FromAttributes;
pub use typed::secret::Secret;
pub use typed::time::{Date, Epoch, EpochMs, Timestamp};
