//! Applies the changes of a plan one by one, and waits for each.

use std::time::Duration;

use keyform_core::{Error, ErrorCode, Execute, World};

use super::change::Change;
use super::plan::{Plan, PlannedChange};
use super::wait::{Patience, Until, wait};
use super::{DeployError, TablePlan};

/// Attempts of a change while another one is in progress.
const TRIES_MAX: u32 = 60;
const BETWEEN_TRIES: Duration = Duration::from_secs(5);

/// Progress of an apply.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A change starts.
    Begun {
        /// Name of the table in the store.
        table: &'a str,
        /// Change that starts.
        step: &'a PlannedChange,
        /// Position in the plan, starting at one.
        number: usize,
    },
    /// The store is working on the change.
    Waiting {
        /// Name of the table in the store.
        table: &'a str,
        /// Condition that the apply waits for.
        until: &'a str,
        /// Time waited so far.
        waited: Duration,
    },
    /// A change is in effect.
    Done {
        /// Name of the table in the store.
        table: &'a str,
        /// Completed change.
        step: &'a PlannedChange,
    },
    /// The store rejected a change for now, or does not support it.
    LeftOut {
        /// Name of the table in the store.
        table: &'a str,
        /// Skipped change.
        step: &'a PlannedChange,
        /// Reason for skipping it.
        why: &'a str,
    },
}

/// Result of an apply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Number of changes in effect.
    pub done: usize,
    /// Postponed changes: apply again later.
    pub later: Vec<String>,
    /// Changes that this store does not support.
    pub left_out: Vec<String>,
}

enum Made {
    Done,
    Later(&'static str),
    LeftOut(&'static str),
}

/// Applies the changes of a plan, in order.
///
/// # Errors
///
/// Returns [`DeployError::Refused`] before anything is changed if the plan has refusals, otherwise the error that
/// stopped it. Completed changes stay: plan again to continue.
pub async fn apply(
    store: &dyn Execute,
    world: &dyn World,
    plan: &Plan,
    patience: Patience,
    progress: &(dyn Fn(&Event<'_>) + Send + Sync),
) -> Result<Report, DeployError> {
    if plan.is_refused() {
        return Err(DeployError::Refused);
    }
    let work = Work { store, world, patience, progress };
    let mut report = Report::default();
    let mut number = 0;
    for table in &plan.tables {
        for step in &table.steps {
            number += 1;
            progress(&Event::Begun { table: &table.table, step, number });
            work.step(table, step, &mut report).await?;
        }
    }
    // Changes that an earlier apply started may still be in progress.
    for table in plan.tables.iter().filter(|table| table.declared.is_some()) {
        work.wait(&table.table, Until::Ready).await?;
    }
    Ok(report)
}

struct Work<'a> {
    store: &'a dyn Execute,
    world: &'a dyn World,
    patience: Patience,
    progress: &'a (dyn Fn(&Event<'_>) + Send + Sync),
}

impl Work<'_> {
    async fn step(&self, plan: &TablePlan, step: &PlannedChange, report: &mut Report) -> Result<(), DeployError> {
        let table = plan.table.as_str();
        match self.change(table, &step.change).await? {
            Made::Done => {
                report.done += 1;
                (self.progress)(&Event::Done { table, step });
            }
            Made::Later(why) => {
                report.later.push(format!("{table}: {}: {why}", step.change.words()));
                (self.progress)(&Event::LeftOut { table, step, why });
            }
            Made::LeftOut(why) => {
                report.left_out.push(format!("{table}: {}: {why}", step.change.words()));
                (self.progress)(&Event::LeftOut { table, step, why });
            }
        }
        Ok(())
    }

    async fn change(&self, table: &str, change: &Change) -> Result<Made, DeployError> {
        // The service accepts one change of a table at a time.
        let begins = matches!(change, Change::CreateTable(_));
        self.wait(table, if begins { Until::Free } else { Until::Ready }).await?;
        let made = self.send(table, change).await?;
        match change {
            Change::DeleteTable => self.wait(table, Until::Gone).await?,
            Change::CreateIndex { index, .. } => self.wait(table, Until::Filled(&index.name)).await?,
            Change::AwaitIndex(name) => self.wait(table, Until::Filled(name)).await?,
            _ => self.wait(table, Until::Ready).await?,
        }
        Ok(made)
    }

    async fn wait(&self, table: &str, until: Until<'_>) -> Result<(), DeployError> {
        let looking = |until: &str, waited| (self.progress)(&Event::Waiting { table, until, waited });
        wait(self.store, self.world, table, until, self.patience, &looking).await
    }

    /// Sends the request; retries while another change is in progress.
    async fn send(&self, table: &str, change: &Change) -> Result<Made, DeployError> {
        let Some(operation) = change.operation(table) else { return Ok(Made::Done) };
        for _ in 0..TRIES_MAX {
            let error = match self.store.execute(operation.clone()).await {
                Ok(_) => return Ok(Made::Done),
                Err(error) => error,
            };
            if let Some(made) = excused(change, &error) {
                return Ok(made);
            }
            if !is_busy(change, &error) {
                let doing = format!("{table}: {}", change.words());
                return Err(DeployError::Store { doing, error });
            }
            (self.progress)(&Event::Waiting { table, until: "another change is complete", waited: Duration::ZERO });
            self.world.sleep(BETWEEN_TRIES).await;
        }
        Err(DeployError::TooLong { table: table.to_owned(), what: "another change is complete".to_owned() })
    }
}

/// Returns whether another change is in progress. A table that was created in the meantime is different: the plan is
/// outdated.
fn is_busy(change: &Change, error: &Error) -> bool {
    match error.code() {
        ErrorCode::LimitExceeded => true,
        ErrorCode::ResourceInUse => !matches!(change, Change::CreateTable(_)),
        // A new table has no backups for a short time.
        _ if matches!(change, Change::Recovery(_)) => error.message().contains("ContinuousBackupsUnavailable"),
        _ => false,
    }
}

/// Returns the result for errors that do not stop the deploy.
fn excused(change: &Change, error: &Error) -> Option<Made> {
    match change {
        Change::Recovery(true) if error.code() == ErrorCode::UnknownOperation => {
            Some(Made::LeftOut("this store does not support point-in-time recovery"))
        }
        Change::ExpiryOn(_) | Change::ExpiryOff(_) if error.message().contains("modified multiple times") => {
            Some(Made::Later("the service accepts this change up to an hour after the last one: apply again then"))
        }
        _ => None,
    }
}
