//! Temporary obstacles of the flush and compaction threads, logged once per incident (ADR 0029).

use std::sync::Arc;
use std::time::Duration;

use super::error::StoreError;
use super::retry;
use super::shared::{Files, Shared};

/// Thread that writes files in the background.
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

/// Current obstacle of each thread.
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
    /// Returns the error for a writer that would have to wait for the threads.
    pub(super) fn refusal(&self) -> Option<StoreError> {
        let obstacle = self.flush.as_ref().or(self.compaction.as_ref())?;
        Some(StoreError::Paused { cause: obstacle.cause.clone() })
    }

    /// Returns the error that blocks the flush.
    pub(super) fn of_flush(&self) -> Option<StoreError> {
        self.flush.as_ref().map(|obstacle| StoreError::Paused { cause: obstacle.cause.clone() })
    }

    fn of(&mut self, task: Task) -> &mut Option<Obstacle> {
        match task {
            Task::Flush => &mut self.flush,
            Task::Compaction => &mut self.compaction,
        }
    }

    /// Records a failure; returns the number of consecutive failures.
    fn note(&mut self, task: Task, cause: Arc<str>) -> u32 {
        let obstacle = self.of(task);
        let failures = obstacle.as_ref().map_or(1, |known| known.failures.saturating_add(1));
        *obstacle = Some(Obstacle { cause, failures });
        failures
    }
}

impl Shared {
    /// Records what blocks a thread, and waits until a retry is worthwhile.
    pub(super) fn meet_obstacle(&self, files: &Files, task: Task, error: &StoreError) {
        let cause = error.cause();
        let mut failures = 0;
        files.update_work(|work| failures = work.obstacles.note(task, cause.clone()));
        // The thread that paused the journal has already logged an unconfirmed write.
        if failures == 1 && !matches!(error, StoreError::Unconfirmed { .. }) {
            tracing::error!(task = task.name(), %cause, "a task of the store failed; retrying until it succeeds");
        }
        files.background.rest(pause(error, failures));
    }

    /// Records that a thread succeeded.
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
