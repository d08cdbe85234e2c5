//! Binds the arguments of a call to a plan and returns a typed DynamoDB request.
//!
//! 1. [`Inputs`] holds everything a call knows: arguments, the caller, items read before, the time, and a source of
//!    fresh ids.
//! 2. `value` converts values to their types and renders keys; `evaluate` computes expressions; `condition` binds
//!    conditions, and `certain` the three-valued ones of `allow` and guards.
//! 3. [`read()`] binds a read and [`write()`] a write. `item` builds items, `update` builds updates, `limit` keeps
//!    changes within the bounds of their types, `constant` and `absence` know what an absent attribute stands for,
//!    `sentinel` enforces unique fields, `sealed` encrypts fields, `intent` records unfinished cascades, `removal` deletes
//!    dependents, and `expiry` makes conditions treat expired items as absent.
//!
//! This module sends no requests and makes no planning decisions: [`plan`](crate::plan) chooses the request.

mod absence;
mod certain;
mod condition;
mod constant;
mod evaluate;
pub mod evolve;
mod expiry;
mod fields;
mod hold;
mod intent;
mod item;
mod limit;
mod older;
mod permit;
mod read;
mod removal;
mod request;
pub mod sample;
mod seal;
mod sealed;
mod sentinel;
mod table;
mod twice;
mod update;
mod value;
mod write;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use keyform_core::{AttributeValue, Attributes, World};

use crate::schema::{Model, Table};

pub use crate::scalar::uuid_of;
pub use constant::when_absent;
pub use hold::Holder;
pub use intent::{DUE, KEY as INTENT_KEY, SORT as INTENT_SORT, partition as intent_partition};
pub use intent::{LEASE_MILLIS, Parent};
pub use item::item;
pub use item::key_of_fields;
pub use permit::{BoundGuard, arguments, guard, lift_reads, truth, value as evaluate};
pub use read::{BoundRead, PageRead, ReadRequest, read};
pub use removal::removal;
pub use request::{WriteOperation, single};
pub use seal::{SEALED_OVERHEAD_BYTES, Seal, SealedField};
pub use sentinel::{is_sentinel, sentinels};
pub use table::{create_table, table_request, time_to_live};
pub use write::taken_name;
pub use write::{BoundAction, BoundWrite, Clearing, Demand, Refusal, read_first, write};

/// Inputs of one call.
#[derive(Clone)]
pub struct Inputs<'a> {
    /// Arguments by name. A list is an `L`; an omitted argument has no entry.
    pub arguments: Cow<'a, Attributes>,
    /// Claims of the caller's verified token.
    pub caller: Cow<'a, Attributes>,
    /// Result of each `let` of a write, by index: an item as `M`, a list of items as `L`. A `let` with a value needs no
    /// entry.
    pub lets: Vec<Option<AttributeValue>>,
    /// Items that were read because [`read_first`] requested them.
    pub current: Vec<CurrentItem>,
    /// Values of the variables in table names.
    pub variables: BTreeMap<String, String>,
    /// Last key of the previous page of a read.
    pub start: Option<Attributes>,
    /// Client request token of an idempotent write.
    pub token: Option<String>,
    /// Time of the call in milliseconds since 1970.
    pub now_millis: i64,
    /// Source of fresh ids.
    pub fresh: &'a dyn Fresh,
    /// Encrypts fields; required by writes of entities with encrypted fields.
    pub sealing: Option<Arc<dyn Seal + 'a>>,
}

/// Item that was read before a write.
#[derive(Clone, Debug, PartialEq)]
pub struct CurrentItem {
    /// Name of the table in the store.
    pub table: String,
    /// Primary key of the item.
    pub key: Attributes,
    /// `None` if the item does not exist.
    pub item: Option<Attributes>,
}

/// Source of fresh ids.
pub trait Fresh: Sync {
    /// Returns a new ULID.
    fn ulid(&self) -> String;
    /// Returns a random UUID.
    fn uuid(&self) -> String;
    /// Returns `length` random characters that are easy to type.
    fn code(&self, length: usize) -> String;
    /// Returns a random token with this many bytes of entropy, encoded as text.
    fn token(&self, bytes: usize) -> String;
}

/// The ids of a world.
impl Fresh for Arc<dyn World> {
    fn ulid(&self) -> String {
        self.as_ref().ulid()
    }

    fn uuid(&self) -> String {
        self.as_ref().uuid()
    }

    fn code(&self, length: usize) -> String {
        self.as_ref().code(length)
    }

    fn token(&self, bytes: usize) -> String {
        self.as_ref().token(bytes)
    }
}

/// Reason a call cannot become a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// An argument, a claim of the caller or an item that should have been read is missing.
    Missing(String),
    /// A value has the wrong type or cannot be written in a key.
    WrongValue(String),
    /// An argument does not have the declared type.
    Misfit {
        /// Name of the argument.
        argument: String,
        /// Expected type, as the message shows it.
        kind: String,
    },
    /// A list of the caller is longer than the write accepts.
    TooMany {
        /// List as the message shows it.
        list: String,
        /// Maximum number of elements.
        most: usize,
    },
    /// Two steps address the same item of this entity; an atomic request may contain each item only once.
    Twice(String),
    /// The request exceeds this limit of the store.
    PastLimit(&'static str),
    /// An expression that no request can express. The rules report it before a model runs.
    Inexpressible(String),
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(what) => write!(f, "{what} is missing"),
            Self::WrongValue(what) => write!(f, "{what} does not have a valid value for its type"),
            Self::Misfit { argument, kind } => write!(f, "`{argument}` is not {kind}"),
            Self::TooMany { list, most } => {
                write!(f, "{list} has more than {most} elements, the maximum of this write")
            }
            Self::Twice(entity) => write!(
                f,
                "the same {entity} is named twice; one write can contain each item only \
                once"
            ),
            Self::PastLimit(what) => f.write_str(what),
            Self::Inexpressible(what) => write!(f, "{what} cannot be expressed in a request"),
        }
    }
}

impl std::error::Error for BindError {}

impl Inputs<'_> {
    /// Returns the name of a table in the store.
    #[must_use]
    pub fn table_name(&self, table: &Table) -> String {
        table_name(table, &self.variables)
    }
}

/// Returns the name of a table in the store with its variables replaced.
#[must_use]
pub fn table_name(table: &Table, variables: &BTreeMap<String, String>) -> String {
    let mut name = table.physical.clone();
    for (variable, value) in variables {
        name = name.replace(&format!("{{{variable}}}"), value);
    }
    name
}

/// Returns the first table name with a variable that has no value.
#[must_use]
pub fn unnamed_table(model: &Model, variables: &BTreeMap<String, String>) -> Option<String> {
    model.tables.iter().map(|table| table_name(table, variables)).find(|name| name.contains('{'))
}
