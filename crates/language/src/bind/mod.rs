//! Arguments in, a typed DynamoDB request out: what a plan becomes when a pattern is called.
//!
//! 1. [`Inputs`] is everything a call knows: arguments, the caller, what was read before, the time, and a source of fresh ids.
//! 2. `value` writes values in their types and renders keys; `evaluate` computes expressions; `condition` makes conditions of them.
//! 3. [`read()`] binds a read, [`write()`] a write; `item` makes items, `update` changes, `sentinel` what keeps unique fields unique, `sealed`
//!    seals the encrypted fields of both, `intent` keeps what a delete brings with it from being forgotten, `removal` is what it brings,
//!    `expiry` takes items whose time is over as if they were not there.
//!
//! Nothing here runs a request, and nothing here decides how a pattern runs: that is the plan's business.

mod condition;
mod evaluate;
pub mod evolve;
mod expiry;
mod fields;
mod intent;
mod item;
mod permit;
mod read;
mod removal;
mod request;
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

use keyform_core::{AttributeValue, Attributes};

use crate::schema::Table;

pub use evaluate::uuid_of;
pub use intent::{DUE, KEY as INTENT_KEY, SORT as INTENT_SORT, partition as intent_partition};
pub use intent::{LEASE_MILLIS, Parent};
pub use item::item;
pub use item::key_of_fields;
pub use permit::{arguments, guard, holds, value as evaluate};
pub use read::{BoundRead, read};
pub use removal::removal;
pub use request::single;
pub use seal::{SEALED_OVERHEAD_BYTES, Seal, SealedField};
pub use sentinel::is_sentinel;
pub use table::{create_table, table_request, time_to_live};
pub use write::taken_name;
pub use write::{BoundAction, BoundWrite, Refusal, Refusals, read_first, write};

/// What a call of a pattern knows.
#[derive(Clone)]
pub struct Inputs<'a> {
    /// The arguments by name. A list is an `L`; an argument that is left out is not there.
    pub arguments: Cow<'a, Attributes>,
    /// What the caller's token proves.
    pub caller: Cow<'a, Attributes>,
    /// What each `let` of a write has read: an item as `M`, a list of items as `L`. Of a `let` that is a value nothing is needed.
    pub lets: Vec<Option<AttributeValue>>,
    /// Items as they are now, by table and key: those that [`read_first`] has asked for.
    pub current: Vec<(String, Attributes, Option<Attributes>)>,
    /// What the variables in the names of tables stand for.
    pub variables: BTreeMap<String, String>,
    /// Where the last page of a read ended.
    pub start: Option<Attributes>,
    /// The token of an idempotent write.
    pub token: Option<String>,
    /// The time in milliseconds since 1970.
    pub now_millis: i64,
    /// Where fresh ids come from.
    pub fresh: &'a dyn Fresh,
    /// What seals encrypted fields; needed by writes of entities that have some.
    pub sealing: Option<Arc<dyn Seal + 'a>>,
}

/// A source of fresh ids.
pub trait Fresh: Sync {
    /// A ULID.
    fn ulid(&self) -> String;
    /// A random UUID.
    fn uuid(&self) -> String;
    /// So many characters that are easy to type.
    fn code(&self, length: usize) -> String;
    /// So many bytes of randomness, as text.
    fn token(&self, bytes: usize) -> String;
}

/// Why a call cannot become a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// An argument, a claim of the caller or something that was to be read is not there.
    Missing(String),
    /// A value is not of the type that is wanted, or cannot be written in a key.
    WrongValue(String),
    /// An argument is not of its type, which is this in words.
    Misfit {
        /// The argument.
        argument: String,
        /// What it should be.
        kind: String,
    },
    /// A list of the caller's is longer than the write takes.
    TooMany {
        /// What it is.
        list: String,
        /// How many elements the write takes.
        most: usize,
    },
    /// Two steps are about the same item of this entity, and an atomic request takes each item once.
    Twice(String),
    /// The store does not take it: what is too much.
    PastLimit(&'static str),
    /// An expression that no request can say. The rules report it before a model runs.
    Inexpressible(String),
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(what) => write!(f, "{what} is missing"),
            Self::WrongValue(what) => write!(f, "{what} is not a value of its type"),
            Self::Misfit { argument, kind } => write!(f, "`{argument}` is not {kind}"),
            Self::TooMany { list, most } => {
                write!(f, "{list} has more than {most} elements, which are all that the write takes")
            }
            Self::Twice(entity) => write!(f, "the same {entity} is named twice, and one write takes each item once"),
            Self::PastLimit(what) => f.write_str(what),
            Self::Inexpressible(what) => write!(f, "{what} cannot be said in a request"),
        }
    }
}

impl std::error::Error for BindError {}

impl Inputs<'_> {
    /// The name of a table in the store.
    #[must_use]
    pub fn table_name(&self, table: &Table) -> String {
        table_name(table, &self.variables)
    }
}

/// The name of a table in the store, where its variables stand for these values.
#[must_use]
pub fn table_name(table: &Table, variables: &BTreeMap<String, String>) -> String {
    let mut name = table.physical.clone();
    for (variable, value) in variables {
        name = name.replace(&format!("{{{variable}}}"), value);
    }
    name
}
