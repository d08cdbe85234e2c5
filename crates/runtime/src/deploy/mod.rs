//! A model's tables brought into being: what there is compared with what there shall be, and the difference made so.
//!
//! The life of a deploy:
//!
//! 1. [`desired()`] says what tables the model wants, by their names in the store; [`own`] those of Keyform's own that it needs at work.
//! 2. [`observe`] asks a store what is there: [`Live`] tables.
//! 3. [`plan()`] compares the two: an ordered list of [`Step`]s for each table, what is refused with the way out, and what is worth knowing.
//! 4. [`text`] and [`json`] print the plan.
//! 5. [`apply()`] makes the changes one by one on any store, and waits until each is in effect. Stopped half-way, it is planned again:
//!    there is no state beside the tables themselves.
//!
//! Nothing that holds data is removed unless it is named in [`Request::destroy`].

mod apply;
mod change;
mod compare;
mod desired;
mod destroy;
mod encryption;
mod index;
pub mod json;
mod live;
mod plan;
pub mod text;
mod wait;

use std::collections::BTreeMap;
use std::fmt;

use keyform_core::{Error, Execute};

use keyform_language::schema::Model;

pub use apply::{Event, Report, apply};
pub use change::Change;
pub use desired::{Desired, desired, own};
pub use live::{Live, observe};
pub use plan::{Plan, Refusal, Step, TablePlan, plan};
pub use wait::{Patience, filled, ready};

/// What a deploy is asked for, besides the model.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// What the variables in the names of tables stand for.
    pub variables: BTreeMap<String, String>,
    /// What may be removed: `TABLE`, `INDEX`, `TABLE/INDEX`, `TABLE/stream` or `TABLE/recovery`, by their names in the store.
    pub destroy: Vec<String>,
}

/// Compares a model with a store: [`desired()`], [`own`], [`observe`] and [`plan()`] in one.
///
/// # Errors
///
/// If a variable has no value, or the store fails.
pub async fn prepare(store: &dyn Execute, model: &Model, request: &Request) -> Result<Plan, DeployError> {
    let mut desired = desired(model, &request.variables)?;
    desired.extend(own(model));
    let mut names: Vec<String> = desired.iter().map(|wanted| wanted.create.table.clone()).collect();
    let strangers = request.destroy.iter().filter(|name| is_table_name(name) && !names.contains(name));
    names.extend(strangers.cloned().collect::<Vec<_>>());
    let live = observe(store, &names).await?;
    Ok(plan(&desired, &live, &request.destroy))
}

/// Whether a store may have a table of that name.
fn is_table_name(name: &str) -> bool {
    name.len() >= 3 && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter))
}

/// Why a deploy does not go on.
#[derive(Clone, Debug, PartialEq)]
pub enum DeployError {
    /// A variable in the name of a table has no value.
    NoValue {
        /// The table's name with the variable.
        table: String,
        /// The variable.
        variable: String,
    },
    /// The plan has refusals.
    Refused,
    /// Something takes longer than it may.
    TooLong {
        /// The table.
        table: String,
        /// What was waited for.
        what: String,
    },
    /// The store failed.
    Store {
        /// What was being done.
        doing: String,
        /// What the store said.
        error: Error,
    },
}

impl fmt::Display for DeployError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValue { table, variable } => {
                write!(f, "the table `{table}` has a variable without a value: add --set {variable}=VALUE")
            }
            Self::Refused => f.write_str("the plan has refusals: nothing was changed"),
            Self::TooLong { table, what } => {
                write!(f, "{table}: gave up waiting until {what}. It goes on in the store: apply again to wait on")
            }
            Self::Store { doing, error } => write!(f, "{doing}: {}: {}", error.code().name(), error.message()),
        }
    }
}

impl std::error::Error for DeployError {}
