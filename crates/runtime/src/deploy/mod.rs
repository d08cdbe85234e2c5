//! Deploys a model's tables: compares them with the store and applies the differences (ADR 0019).
//!
//! Steps of a deploy:
//!
//! 1. [`desired()`] returns the tables that the model declares, by their names in the store; [`own`] returns the
//!    internal tables that Keyform needs to run it.
//! 2. [`observe`] describes the existing tables: [`Live`].
//! 3. [`plan()`] compares the two: an ordered list of [`PlannedChange`]s per table, refusals with their remedies, and notes.
//! 4. [`text`] and [`json`] format the plan.
//! 5. [`apply()`] makes the changes one by one on any store, and waits until each is in effect. There is no state
//!    beside the tables themselves: an interrupted deploy is planned again.
//!
//! Nothing that holds data is removed unless [`Request::destroy`] names it.

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
pub use plan::{Plan, PlannedChange, Refusal, TablePlan, plan};
pub use wait::{Patience, filled, ready};

/// Options of a deploy.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Values of the variables in table names.
    pub variables: BTreeMap<String, String>,
    /// Resources that may be removed: `TABLE`, `INDEX`, `TABLE/INDEX`, `TABLE/stream` or `TABLE/recovery`, by their
    /// names in the store.
    pub destroy: Vec<String>,
}

/// Plans a deploy: calls [`desired()`], [`own`], [`observe`] and [`plan()`].
///
/// # Errors
///
/// Returns an error if a variable has no value, or the store fails.
pub async fn prepare(store: &dyn Execute, model: &Model, request: &Request) -> Result<Plan, DeployError> {
    let mut desired = desired(model, &request.variables)?;
    desired.extend(own(model));
    let mut names: Vec<String> = desired.iter().map(|wanted| wanted.create.table.clone()).collect();
    let strangers = request.destroy.iter().filter(|name| is_table_name(name) && !names.contains(name));
    names.extend(strangers.cloned().collect::<Vec<_>>());
    let live = observe(store, &names).await?;
    Ok(plan(&desired, &live, &request.destroy))
}

/// Returns whether the name is a valid table name.
fn is_table_name(name: &str) -> bool {
    name.len() >= 3 && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter))
}

/// Reason why a deploy stopped.
#[derive(Clone, Debug, PartialEq)]
pub enum DeployError {
    /// A variable in a table name has no value.
    NoValue {
        /// Name of the table with the variable in it.
        table: String,
        /// Name of the variable.
        variable: String,
    },
    /// The plan has refusals.
    Refused,
    /// The wait for a change timed out.
    TooLong {
        /// Name of the table.
        table: String,
        /// Condition that was not met in time.
        what: String,
    },
    /// The store failed.
    Store {
        /// Action that failed, with the name of the table.
        doing: String,
        /// Error that the store returned.
        error: Error,
    },
}

impl fmt::Display for DeployError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValue { table, variable } => {
                write!(f, "the table `{table}` has a variable without a value: {variable}")
            }
            Self::Refused => f.write_str("the plan contains changes that are refused: nothing was changed"),
            Self::TooLong { table, what } => {
                write!(f, "{table}: timed out waiting until {what}. The store continues: apply again to wait on")
            }
            Self::Store { doing, error } => write!(f, "{doing}: {}: {}", error.code().name(), error.message()),
        }
    }
}

impl std::error::Error for DeployError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Store { error, .. } => Some(error),
            Self::NoValue { .. } | Self::Refused | Self::TooLong { .. } => None,
        }
    }
}
