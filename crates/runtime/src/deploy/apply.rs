//! The changes of a plan, made one by one, each waited for.

use std::time::Duration;

use keyform_core::{Error, ErrorCode, Execute};

use crate::run::Surroundings;

use super::change::Change;
use super::plan::{Plan, Step};
use super::wait::{Patience, Until, wait};
use super::{DeployError, TablePlan};

/// How often a change is tried that others are in the way of, and how long is waited in between.
const TRIES_MAX: u32 = 60;
const BETWEEN_TRIES: Duration = Duration::from_secs(5);

/// How an apply goes on.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A change begins.
    Begun {
        /// The table.
        table: &'a str,
        /// The change.
        step: &'a Step,
        /// Its number, from one.
        number: usize,
    },
    /// It is in the store's hands.
    Waiting {
        /// The table.
        table: &'a str,
        /// What is waited for.
        until: &'a str,
        /// For how long by now.
        waited: Duration,
    },
    /// It is in effect.
    Done {
        /// The table.
        table: &'a str,
        /// The change.
        step: &'a Step,
    },
    /// The store does not take it now, or at all.
    LeftOut {
        /// The table.
        table: &'a str,
        /// The change.
        step: &'a Step,
        /// Why.
        why: &'a str,
    },
}

/// What an apply did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many changes are in effect.
    pub done: usize,
    /// What was put off: to be applied again later.
    pub later: Vec<String>,
    /// What this store cannot do.
    pub left_out: Vec<String>,
}

/// What became of a change.
enum Made {
    Done,
    Later(&'static str),
    LeftOut(&'static str),
}

/// Makes the changes of a plan on a store, in order.
///
/// # Errors
///
/// [`DeployError::Refused`] before anything is changed, if the plan has refusals; else what stopped it. What was done stays done: plan
/// again to go on.
pub async fn apply(
    store: &dyn Execute,
    surroundings: &dyn Surroundings,
    plan: &Plan,
    patience: Patience,
    progress: &(dyn Fn(&Event<'_>) + Send + Sync),
) -> Result<Report, DeployError> {
    if plan.is_refused() {
        return Err(DeployError::Refused);
    }
    let work = Work { store, surroundings, patience, progress };
    let mut report = Report::default();
    let mut number = 0;
    for table in &plan.tables {
        for step in &table.steps {
            number += 1;
            progress(&Event::Begun { table: &table.table, step, number });
            work.step(table, step, &mut report).await?;
        }
    }
    // What an earlier apply began may still be under way.
    for table in plan.tables.iter().filter(|table| table.declared.is_some()) {
        work.wait(&table.table, Until::Ready).await?;
    }
    Ok(report)
}

struct Work<'a> {
    store: &'a dyn Execute,
    surroundings: &'a dyn Surroundings,
    patience: Patience,
    progress: &'a (dyn Fn(&Event<'_>) + Send + Sync),
}

impl Work<'_> {
    async fn step(&self, plan: &TablePlan, step: &Step, report: &mut Report) -> Result<(), DeployError> {
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
        wait(self.store, self.surroundings, table, until, self.patience, &looking).await
    }

    /// Sends the request; tries again while another change is under way.
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
            (self.progress)(&Event::Waiting { table, until: "another change is done", waited: Duration::ZERO });
            self.surroundings.sleep(BETWEEN_TRIES).await;
        }
        Err(DeployError::TooLong { table: table.to_owned(), what: "another change is done".to_owned() })
    }
}

/// Whether another change is under way. A table that was made meanwhile is another matter: the plan no longer holds.
fn is_busy(change: &Change, error: &Error) -> bool {
    match error.code() {
        ErrorCode::LimitExceeded => true,
        ErrorCode::ResourceInUse => !matches!(change, Change::CreateTable(_)),
        // Backups of a table that was just made are not there at once.
        _ if matches!(change, Change::Recovery(_)) => error.message().contains("ContinuousBackupsUnavailable"),
        _ => false,
    }
}

/// What a refusal of the store means, where it stops nothing.
fn excused(change: &Change, error: &Error) -> Option<Made> {
    match change {
        Change::Recovery(true) if error.code() == ErrorCode::UnknownOperation => {
            Some(Made::LeftOut("this store has no point-in-time recovery"))
        }
        Change::ExpiryOn(_) | Change::ExpiryOff(_) if error.message().contains("modified multiple times") => {
            Some(Made::Later("the service takes it up to an hour after the last change: apply again then"))
        }
        _ => None,
    }
}
