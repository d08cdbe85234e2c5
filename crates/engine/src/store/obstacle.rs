//! What keeps the flush and compaction threads from their work for a while, reported once per incident.

use std::sync::Arc;
use std::time::Duration;

use super::error::StoreError;
use super::retry;
use super::shared::{Files, Shared};

/// A thread that writes files in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Flush,
    Compaction,
}

impl Task {
    fn name(self) -> &'static str {
        match self {
            Task::Flush => "flush",
            Task::Compaction => "compaction",
        }
    }
}

/// What each thread met.
#[derive(Debug, Default)]
pub(super) struct Obstacles {
    flush: Option<Obstacle>,
    compaction: Option<Obstacle>,
}

#[derive(Debug)]
struct Obstacle {
    cause: Arc<str>,
    failures: u32,
}

impl Obstacles {
    /// The refusal of a writer that would have to wait for the threads.
    pub(super) fn refusal(&self) -> Option<StoreError> {
        let obstacle = self.flush.as_ref().or(self.compaction.as_ref())?;
        Some(StoreError::Paused { cause: obstacle.cause.clone() })
    }

    /// What keeps memtables from becoming tables.
    pub(super) fn of_flush(&self) -> Option<StoreError> {
        self.flush.as_ref().map(|obstacle| StoreError::Paused { cause: obstacle.cause.clone() })
    }

    fn of(&mut self, task: Task) -> &mut Option<Obstacle> {
        match task {
            Task::Flush => &mut self.flush,
            Task::Compaction => &mut self.compaction,
        }
    }

    /// Notes a failure; returns how many there were in a row.
    fn note(&mut self, task: Task, cause: Arc<str>) -> u32 {
        let obstacle = self.of(task);
        let failures = obstacle.as_ref().map_or(1, |known| known.failures.saturating_add(1));
        *obstacle = Some(Obstacle { cause, failures });
        failures
    }
}

impl Shared {
    /// Notes what keeps a thread from its work, and waits until it is worth another try.
    pub(super) fn meet_obstacle(&self, files: &Files, task: Task, error: &StoreError) {
        let cause = error.cause();
        let mut failures = 0;
        files.update_work(|work| failures = work.obstacles.note(task, cause.clone()));
        // The writer that paused the journal has reported it.
        if failures == 1 && !matches!(error, StoreError::Unconfirmed { .. }) {
            tracing::error!(task = task.name(), %cause, "a task of the store failed; it is retried until it succeeds");
        }
        files.background.rest(pause(error, failures));
    }

    /// Notes that a thread did its work.
    pub(super) fn pass_obstacle(&self, files: &Files, task: Task) {
        let mut passed = None;
        files.update_work(|work| passed = work.obstacles.of(task).take());
        if let Some(Obstacle { failures, .. }) = passed {
            tracing::warn!(task = task.name(), failures, "a task of the store succeeded again");
        }
    }
}

fn pause(error: &StoreError, failures: u32) -> Duration {
    if error.is_scarcity() { retry::pause(failures) } else { retry::DAMAGE }
}
