//! Reads one shard under its lease.

use std::sync::Arc;
use std::time::Duration;

use keyform_core::operation::ChangeRecord;
use keyform_core::world::timeout;
use keyform_language::schema::{Consumer, EntityId, Target};

use super::change::EntityChange;
use super::handlers::Shared;
use super::ledger::Lease;
use crate::feed::FeedError;
use crate::feed::ShardOffset;
use crate::feed::cursor::Cursor;

/// Limit of handled changes between two checkpoints, and thus of changes delivered again after a crash.
const UNNOTED_MAX: usize = 50;

/// Reader of a shard, with its lease.
pub(super) struct ShardReader {
    pub(super) shared: Arc<Shared>,
    pub(super) table: String,
    pub(super) arn: String,
    pub(super) entities: Vec<EntityId>,
    pub(super) lease: Lease,
}

/// Another instance holds the lease now.
struct Lost;

impl ShardReader {
    /// Reads until the shard ends or the lease is lost.
    pub(super) async fn run(self) {
        let mut cursor = Cursor::new(&self.lease.shard, self.lease.place);
        let mut noted = self.shared.world().monotonic();
        loop {
            match self.step(&mut cursor, &mut noted).await {
                Ok(true) => {}
                Ok(false) | Err(Lost) => return,
            }
        }
    }

    /// Reads and handles one page; returns false at the end of the shard.
    async fn step(&self, cursor: &mut Cursor, noted: &mut Duration) -> Result<bool, Lost> {
        let store = self.shared.runner.store();
        let seen = store.watch().map(|watch| watch.latest());
        let page = match cursor.read(&**store, &self.arn).await {
            Ok(page) => page,
            Err(FeedError::TooOld) => {
                tracing::warn!(
                    table = self.table,
                    shard = self.lease.shard,
                    "changes may have been missed: the checkpoint is older than the stream"
                );
                *cursor = Cursor::new(&self.lease.shard, ShardOffset::Start);
                return Ok(true);
            }
            Err(error) => {
                tracing::warn!(table = self.table, %error, "cannot read a shard; retrying");
                self.shared.world().sleep(self.shared.settings.backoff).await;
                return Ok(true);
            }
        };
        let is_empty = page.records.is_empty();
        let mut unnoted = 0;
        for record in &page.records {
            if self.handle(record).await? {
                unnoted += 1;
            }
            if unnoted >= UNNOTED_MAX {
                self.note(ShardOffset::After(record.sequence), false, noted).await?;
                unnoted = 0;
            }
        }
        let is_due = self.since(*noted) > self.shared.settings.lease / 3;
        if !is_empty || cursor.is_finished || is_due {
            self.note(cursor.place, cursor.is_finished, noted).await?;
        }
        if cursor.is_finished {
            return Ok(false);
        }
        if is_empty {
            let most = self.shared.settings.lease / 4;
            match (store.watch(), seen) {
                (Some(watch), Some(seen)) => drop(timeout(self.shared.world(), most, watch.changed(seen)).await),
                _ => self.shared.world().sleep(self.shared.settings.poll.min(most)).await,
            }
        }
        Ok(true)
    }

    /// Returns the time since a moment of the monotonic clock.
    fn since(&self, moment: Duration) -> Duration {
        self.shared.world().monotonic().saturating_sub(moment)
    }

    /// Writes the checkpoint; `noted` is the moment of the last one.
    async fn note(&self, place: ShardOffset, is_done: bool, noted: &mut Duration) -> Result<(), Lost> {
        loop {
            let until_ms = self.shared.until_ms();
            match self.shared.ledger.checkpoint(&self.table, &self.lease, place, until_ms, is_done).await {
                Ok(true) => {
                    *noted = self.shared.world().monotonic();
                    return Ok(());
                }
                Ok(false) => return Err(Lost),
                Err(error) if self.since(*noted) < self.shared.settings.lease => {
                    tracing::warn!(error = error.message(), "cannot write a checkpoint; retrying");
                    self.shared.world().sleep(self.shared.settings.backoff).await;
                }
                // The lease may have expired, and another instance may read the shard.
                Err(_) => return Err(Lost),
            }
        }
    }

    /// Calls the handlers of a change; returns whether there were any.
    async fn handle(&self, record: &ChangeRecord) -> Result<bool, Lost> {
        let Some(change) = EntityChange::of(&self.shared.runner, &self.entities, record) else { return Ok(false) };
        let consumers = &self.shared.runner.checked().model.consumers;
        let wants =
            |consumer: &&Consumer| consumer.entity == Some(change.entity) && consumer.events.contains(&change.event);
        let mut any = false;
        for consumer in consumers.iter().filter(wants) {
            if let Target::Handler(name) = &consumer.target {
                any = true;
                self.renewed(self.deliver(name, &change)).await?;
            }
        }
        Ok(any)
    }

    /// Runs work that may take long, and renews the lease meanwhile.
    async fn renewed(&self, work: impl Future<Output = ()>) -> Result<(), Lost> {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                () = &mut work => return Ok(()),
                () = self.shared.world().sleep(self.shared.settings.lease / 3) => {
                    if !self.shared.renew(&self.table, &self.lease).await {
                        return Err(Lost);
                    }
                }
            }
        }
    }

    /// Calls a handler until it succeeds, or the change becomes a dead letter.
    async fn deliver(&self, name: &str, change: &EntityChange) {
        let settings = &self.shared.settings;
        let mut pause = settings.backoff;
        let mut error = String::new();
        // A later attempt reads the same images.
        let attempts = if change.unreadable.is_some() { 1 } else { settings.attempts.max(1) };
        for attempt in 0..attempts {
            if attempt > 0 {
                self.shared.world().sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(60));
            }
            match self.shared.call(name, EntityChange { attempt, ..change.clone() }).await {
                Ok(()) => return,
                Err(why) => error = why,
            }
            tracing::warn!(handler = name, change = change.id, attempt, error, "a handler failed");
        }
        // The checkpoint must not advance before the letter is stored, or the change would be lost.
        while let Err(failed) = self.shared.ledger.bury(name, &self.table, &change.record, &error, attempts).await {
            tracing::error!(error = failed.message(), "cannot store a dead letter; retrying");
            self.shared.world().sleep(Duration::from_secs(1)).await;
        }
        tracing::error!(handler = name, change = change.id, error, "a change became a dead letter");
    }
}
