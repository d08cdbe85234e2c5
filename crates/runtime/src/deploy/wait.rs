//! Waits until a change is in effect: DynamoDB applies changes asynchronously, and rejects further ones until then.

use std::time::Duration;

use keyform_core::table::{Status, TableDescription};
use keyform_core::{Error, Execute, World};

use super::DeployError;
use super::live::describe;

const FIRST_LOOK: Duration = Duration::from_millis(20);
const BETWEEN_LOOKS_MAX: Duration = Duration::from_secs(5);

/// Default timeout of one change. Backfilling an index of a large table takes hours; a table that is not ready after a
/// day never will be.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Timeout of a single change.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Timeout; `None` waits indefinitely. Default: one day.
    pub longest: Option<Duration>,
}

impl Default for Patience {
    fn default() -> Self {
        Self { longest: Some(LONGEST) }
    }
}

/// Condition to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until<'a> {
    /// The table is active and no index is being created or deleted.
    Ready,
    /// An index is backfilled.
    Filled(&'a str),
    /// The table no longer exists.
    Gone,
    /// A deleted table of that name no longer exists.
    Free,
}

/// Progress callback, called after each poll.
pub(super) type Looking<'a> = dyn Fn(&str, Duration) + Send + Sync + 'a;

/// Waits until an index is backfilled and readable.
///
/// # Errors
///
/// Returns an error if the store fails, or the timeout expires.
pub async fn filled(
    store: &dyn Execute,
    world: &dyn World,
    table: &str,
    index: &str,
    patience: Patience,
) -> Result<(), DeployError> {
    wait(store, world, table, Until::Filled(index), patience, &|_, _| {}).await
}

/// Waits until a table is active and none of its indexes is being created or deleted.
///
/// # Errors
///
/// Returns an error if the store fails, or the timeout expires.
pub async fn ready(store: &dyn Execute, world: &dyn World, table: &str, patience: Patience) -> Result<(), DeployError> {
    wait(store, world, table, Until::Ready, patience, &|_, _| {}).await
}

pub(super) async fn wait(
    store: &dyn Execute,
    world: &dyn World,
    table: &str,
    until: Until<'_>,
    patience: Patience,
    looking: &Looking<'_>,
) -> Result<(), DeployError> {
    let (mut waited, mut pause) = (Duration::ZERO, FIRST_LOOK);
    loop {
        let found = describe(store, table).await.map_err(|error| failed(table, error))?;
        let Some(what) = missing(found.as_ref(), until) else { return Ok(()) };
        if patience.longest.is_some_and(|longest| waited >= longest) {
            return Err(DeployError::TooLong { table: table.to_owned(), what });
        }
        looking(&what, waited);
        world.sleep(pause).await;
        waited += pause;
        pause = (pause * 2).min(BETWEEN_LOOKS_MAX);
    }
}

fn failed(table: &str, error: Error) -> DeployError {
    DeployError::Store { doing: format!("describing {table}"), error }
}

/// Describes the unmet condition; `None` when the wait is over.
fn missing(found: Option<&TableDescription>, until: Until<'_>) -> Option<String> {
    match (until, found) {
        (Until::Gone | Until::Free, None) => None,
        (Until::Free, Some(table)) if table.status != Status::Deleting => None,
        (Until::Gone | Until::Free, Some(_)) => Some("the table is deleted".to_owned()),
        (_, None) => Some("the table exists".to_owned()),
        (_, Some(table)) if table.status != Status::Active => Some("the table is active".to_owned()),
        (Until::Ready, Some(table)) => under_way(table),
        (Until::Filled(name), Some(table)) => {
            match table.global_indexes.iter().find(|index| index.index.name == name) {
                Some(index) if index.status == Status::Active && !index.backfilling => None,
                _ => Some(format!("the index {name} is backfilled")),
            }
        }
    }
}

fn under_way(table: &TableDescription) -> Option<String> {
    table.global_indexes.iter().find_map(|index| match index.status {
        Status::Active if !index.backfilling => None,
        Status::Deleting => Some(format!("the index {} is deleted", index.index.name)),
        _ => Some(format!("the index {} is backfilled", index.index.name)),
    })
}
