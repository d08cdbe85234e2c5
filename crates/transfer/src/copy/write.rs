//! Batch writes within the budget, with retries of unprocessed writes.

use std::sync::Arc;
use std::time::Duration;

use keyform_core::error::{Detail, remote};
use keyform_core::operation::{BatchWriteItem, WriteRequest};
use keyform_core::value::size;
use keyform_core::{Error, ErrorCode, Execute, ExecuteExt, World};

use super::budget::{Budget, units};

/// Maximum writes of one BatchWriteItem request.
pub(crate) const BATCH_MAX: usize = 25;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Consecutive attempts without any progress; together about ten minutes.
const TRIES_MAX: u32 = 64;

/// Writes to one table.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Execute>,
    pub(crate) table: String,
    pub(crate) world: Arc<dyn World>,
    pub(crate) budget: Arc<Budget>,
}

impl Writer {
    /// Writes requests with distinct keys; returns after the store has accepted all of them.
    pub(crate) async fn write(&self, mut writes: Vec<WriteRequest>) -> Result<(), Error> {
        let (mut pause, mut tries) = (FIRST_PAUSE, 0);
        while !writes.is_empty() {
            self.budget.take(writes.iter().map(cost).sum()).await;
            let before = writes.len();
            writes = self.send(writes).await?;
            if writes.is_empty() {
                return Ok(());
            }
            tries = if writes.len() < before { 0 } else { tries + 1 };
            if tries == TRIES_MAX {
                let why = "the store accepts no more writes: increase its capacity, or copy more slowly";
                return Err(remote::reported(ErrorCode::Throttling.name(), why, Detail::None));
            }
            pause = if tries == 0 { FIRST_PAUSE } else { (pause * 2).min(PAUSE_MAX) };
            self.world.sleep(pause.mul_f64(0.5 + self.world.jitter() / 2.0)).await;
        }
        Ok(())
    }

    /// Sends a batch; returns the unprocessed writes.
    async fn send(&self, writes: Vec<WriteRequest>) -> Result<Vec<WriteRequest>, Error> {
        let batch = BatchWriteItem { tables: vec![(self.table.clone(), writes.clone())], ..BatchWriteItem::default() };
        match self.store.call(batch).await {
            Ok(output) => Ok(output.unprocessed.into_values().flatten().collect()),
            Err(error) if is_throttled(&error) => Ok(writes),
            Err(error) => Err(error),
        }
    }
}

fn is_throttled(error: &Error) -> bool {
    use ErrorCode::{ProvisionedThroughputExceeded, RequestLimitExceeded, Throttling};
    matches!(error.code(), ProvisionedThroughputExceeded | RequestLimitExceeded | Throttling)
}

fn cost(write: &WriteRequest) -> u64 {
    match write {
        WriteRequest::Put(item) => units(size::of_attributes(item)),
        WriteRequest::Delete(_) => 1,
    }
}
