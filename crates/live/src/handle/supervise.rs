//! Distributes the shards of a table among the instances of a program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use keyform_core::Error;
use keyform_core::operation::Shard;
use keyform_language::schema::EntityId;
use tokio::task::{AbortHandle, JoinSet};

use super::handlers::{Begin, Shared};
use super::ledger::Lease;
use super::shard::ShardReader;
use crate::feed::{FeedError, Lineage, ShardOffset, describe, stream_of};

/// Reads this instance's share of a table's shards until it is dropped.
pub(super) struct Supervisor {
    pub(super) shared: Arc<Shared>,
    pub(super) table: String,
    pub(super) entities: Vec<EntityId>,
    readers: JoinSet<String>,
    reading: BTreeMap<String, AbortHandle>,
}

impl Supervisor {
    pub(super) fn new(shared: Arc<Shared>, table: String, entities: Vec<EntityId>) -> Self {
        Self { shared, table, entities, readers: JoinSet::new(), reading: BTreeMap::new() }
    }

    pub(super) async fn run(mut self) {
        loop {
            if let Err(error) = self.look().await {
                tracing::warn!(table = self.table, %error, "cannot distribute shards; retrying");
            }
            tokio::select! {
                Some(ended) = self.readers.join_next(), if !self.readers.is_empty() => {
                    if let Ok(shard) = ended {
                        self.reading.remove(&shard);
                    }
                }
                () = self.shared.world().sleep(self.shared.settings.lease / 3) => {}
            }
            self.reading.retain(|_, task| !task.is_finished());
        }
    }

    /// Claims free shards up to a fair share, and gives up those beyond it.
    async fn look(&mut self) -> Result<(), FeedError> {
        let store = self.shared.runner.store().clone();
        // Taken before the shards are described, so that no change between the two is skipped.
        let latest = store.watch().map(|watch| watch.latest());
        let stream = stream_of(&*store, &self.table).await?;
        let (lineage, _) = describe(&*store, &stream.arn).await?;
        let mut leases = self.leases().await?;
        if leases.is_empty() && self.shared.settings.begin == Begin::Now {
            self.begin_now(&lineage, latest).await?;
            leases = self.leases().await?;
        }
        self.forget_gone(&lineage, &mut leases).await?;
        let now_ms = self.shared.runner.now_millis();
        let is_done = |shard: &str| leases.get(shard).is_some_and(|lease| lease.is_done);
        let can_begin = |shard: &&Shard| {
            let waits = shard.parent.as_deref().is_some_and(|parent| lineage.get(parent).is_some() && !is_done(parent));
            !is_done(&shard.id) && !waits
        };
        let open: Vec<&Shard> = lineage.iter().filter(can_begin).collect();
        let share = share(open.len(), &leases, &self.shared.owner, now_ms);
        for shard in open {
            let is_free = leases.get(&shard.id).is_none_or(|lease| lease.until_ms < now_ms);
            if self.reading.len() < share && is_free && !self.reading.contains_key(&shard.id) {
                self.claim(&stream.arn, &shard.id).await?;
            }
        }
        if self.reading.len() > share {
            // Its lease expires, and an instance with fewer shards claims it.
            if let Some((_, task)) = self.reading.pop_first() {
                task.abort();
            }
        }
        Ok(())
    }

    async fn leases(&self) -> Result<BTreeMap<String, Lease>, Error> {
        let leases = self.shared.ledger.leases(&self.table).await?;
        Ok(leases.into_iter().map(|lease| (lease.shard.clone(), lease)).collect())
    }

    /// Records that everything before now is skipped.
    async fn begin_now(
        &self,
        lineage: &Lineage,
        latest: Option<keyform_core::operation::SequenceNumber>,
    ) -> Result<(), Error> {
        let now_ms = u64::try_from(self.shared.runner.now_millis()).unwrap_or(0);
        for shard in lineage.iter() {
            let place = match (latest, shard.end) {
                (Some(latest), end) if end.is_none_or(|end| end > latest) => {
                    Some(if latest >= shard.start { ShardOffset::After(latest) } else { ShardOffset::Start })
                }
                (None, None) => Some(ShardOffset::Since(now_ms)),
                _ => None,
            };
            self.shared.ledger.begin(&self.table, &shard.id, place).await?;
        }
        Ok(())
    }

    /// Deletes the leases of trimmed shards. Records that were not read are lost.
    async fn forget_gone(&self, lineage: &Lineage, leases: &mut BTreeMap<String, Lease>) -> Result<(), Error> {
        let gone: Vec<String> = leases.keys().filter(|shard| lineage.get(shard).is_none()).cloned().collect();
        for shard in gone {
            if leases.remove(&shard).is_some_and(|lease| !lease.is_done) {
                tracing::warn!(
                    table = self.table,
                    shard,
                    "changes were missed: a shard was trimmed before it was read"
                );
            }
            self.shared.ledger.forget(&self.table, &shard).await?;
        }
        Ok(())
    }

    async fn claim(&mut self, arn: &str, shard: &str) -> Result<(), Error> {
        let (shared, now_ms) = (&self.shared, self.shared.runner.now_millis());
        let claimed = shared.ledger.claim(&self.table, shard, &shared.owner, now_ms, shared.until_ms()).await?;
        let Some(lease) = claimed else { return Ok(()) };
        let reader = ShardReader {
            shared: self.shared.clone(),
            table: self.table.clone(),
            arn: arn.to_owned(),
            entities: self.entities.clone(),
            lease,
        };
        let name = shard.to_owned();
        let task = self.readers.spawn(async move {
            reader.run().await;
            name
        });
        self.reading.insert(shard.to_owned(), task);
        Ok(())
    }
}

/// Returns the number of shards that one instance reads at most, so that all read about the same number.
fn share(shards: usize, leases: &BTreeMap<String, Lease>, owner: &str, now_ms: i64) -> usize {
    let held = leases.values().filter(|lease| !lease.is_done && lease.until_ms >= now_ms);
    let others: BTreeSet<&str> = held.map(|lease| lease.owner.as_str()).filter(|known| *known != owner).collect();
    shards.div_ceil(others.len() + 1).max(1)
}
