//! Sends a batch in requests that the service accepts, and reports their common result.

use keyform_core::operation::{BatchWriteItem, WriteRequest};

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

#[cfg(test)]
mod tests {
    use keyform_core::operation::{BatchWriteItemOutput, WriteRequest};
    use keyform_core::{AttributeValue, Operation, Output};

    use super::{BATCH_ITEMS_MAX, Batch};
    use crate::run::RunError;
    use crate::run::attempt::state::{Response, Written};
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, attributes, now, written};

    fn import(count: usize) -> Rig {
        let names = (0..count).map(|number| format!("n{number}").into()).collect();
        Rig::new("import", &[("names", AttributeValue::L(names))])
    }

    fn done(unprocessed: usize) -> Output {
        let put = |number| WriteRequest::Put(attributes(&[("pk", format!("again{number}").into())]));
        let unprocessed = match unprocessed {
            0 => Default::default(),
            count => [("Main".to_owned(), (0..count).map(put).collect())].into(),
        };
        Output::BatchWriteItem(BatchWriteItemOutput { unprocessed, ..BatchWriteItemOutput::default() })
    }

    fn sizes(rig: &Rig) -> Vec<usize> {
        let size = |operation: &Operation| match operation {
            Operation::BatchWriteItem(batch) => batch.tables.iter().map(|(_, requests)| requests.len()).sum(),
            other => panic!("{other:?}"),
        };
        rig.requests().iter().map(size).collect()
    }

    #[test]
    fn a_batch_is_sent_in_pieces_and_what_was_not_processed_again() {
        let rig = import(30).answers([Ok(done(2)), Ok(done(0))]);
        let fixed = rig.fixed();
        let mut attempt = rig.sent(&fixed);
        assert_eq!(sizes(&rig), [BATCH_ITEMS_MAX, 7]);
        assert_eq!(rig.pauses().len(), 1);
        assert_eq!(now(Batch.decide(&mut attempt).unwrap().result()), Ok(Written::Applied(None)));
    }

    #[test]
    fn a_failed_batch_is_reported_as_it_failed() {
        let rig = import(1).answers([Ok(done(0))]);
        let fixed = rig.fixed();
        let mut attempt = rig.sent(&fixed);
        attempt.state.response = Response::Batch(Err(RunError::Busy));
        assert_eq!(now(Batch.decide(&mut attempt).unwrap().result()), Err(RunError::Busy));
    }

    #[test]
    fn a_single_request_is_left_to_the_other_steps() {
        let rig = Rig::new("leave", &[("room", "r".into())]).answers([written(None)]);
        let fixed = rig.fixed();
        assert!(Batch.decide(&mut rig.sent(&fixed)).is_none());
    }
}
