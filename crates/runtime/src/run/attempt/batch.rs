//! Sends a batch in requests that the service accepts, and reports their common result.

use keyform_core::operation::{BatchWriteItem, WriteRequest};
use keyform_core::{Operation, Output};

use super::state::{Attempt, Response, Sent, Written};
use super::step::{Hook, Step};
use crate::run::{RunError, Runner};

/// Limit of BatchWriteItem.
const BATCH_ITEMS_MAX: usize = 25;

#[derive(Debug)]
pub(super) struct Batch;

impl Step for Batch {
    fn decide<'r>(&self, attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        match &attempt.state.response {
            Response::Batch(applied) => Some(Hook::Ready(applied.clone().map(|()| Written::Applied(None)))),
            Response::Request(_) => None,
        }
    }
}

impl Runner {
    /// Sends a batch in chunks that the service accepts, and retries unprocessed requests.
    pub(in crate::run) async fn apply_batch(&self, batch: BatchWriteItem) -> Result<(), RunError> {
        let mut left = single_requests(batch.tables);
        let mut tries = 0;
        while !left.is_empty() {
            let rest = left.split_off(left.len().min(BATCH_ITEMS_MAX));
            let piece = BatchWriteItem { tables: by_table(left), ..BatchWriteItem::default() };
            left = rest;
            let undone = single_requests(self.call(piece).await?.unprocessed);
            if !undone.is_empty() {
                tries += 1;
                self.pause(tries).await?;
                left.extend(undone);
            }
        }
        Ok(())
    }
}

fn single_requests(tables: impl IntoIterator<Item = (String, Vec<WriteRequest>)>) -> Vec<(String, WriteRequest)> {
    let each = |(table, requests): (String, Vec<WriteRequest>)| {
        requests.into_iter().map(move |request| (table.clone(), request))
    };
    tables.into_iter().flat_map(each).collect()
}

fn by_table(requests: Vec<(String, WriteRequest)>) -> Vec<(String, Vec<WriteRequest>)> {
    let mut tables: Vec<(String, Vec<WriteRequest>)> = Vec::new();
    for (table, request) in requests {
        match tables.iter_mut().find(|(name, _)| *name == table) {
            Some((_, requests)) => requests.push(request),
            None => tables.push((table, vec![request])),
        }
    }
    tables
}
