//! The reads by which a call was permitted, and a store that has nothing but these.
//!
//! A refused write carries its item if the caller may read it. Deciding that by new reads would make a refusal cost more than `explain` reports,
//! and would let callers cause reads by writes that fail. The reads that permitted the call decide it at no cost: a guard that held for the write
//! holds for the read.

use std::sync::{Arc, Mutex, PoisonError};

use keyform_core::execute::BoxFuture;
use keyform_core::{Error, Execute, Operation, Output};

/// Passes operations on and remembers the answers.
pub(super) struct Known {
    store: Arc<dyn Execute>,
    answers: Mutex<Vec<(Operation, Output)>>,
}

impl Known {
    pub(super) fn on(store: Arc<dyn Execute>) -> Self {
        Self { store, answers: Mutex::default() }
    }

    fn remember(&self, operation: Operation, output: &Output) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).push((operation, output.clone()));
    }

    fn answer(&self, operation: &Operation) -> Option<Output> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().find(|(asked, _)| asked == operation).map(|(_, output)| output.clone())
    }
}

impl Execute for Known {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move {
            let output = self.store.execute(operation.clone()).await?;
            self.remember(operation, &output);
            Ok(output)
        })
    }

    fn indexes_keep_up(&self) -> bool {
        self.store.indexes_keep_up()
    }
}

/// Answers what is known, and fails for everything else.
pub(super) struct OnlyKnown(pub(super) Option<Arc<Known>>);

impl Execute for OnlyKnown {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let answer = self.0.as_ref().and_then(|known| known.answer(&operation));
        Box::pin(std::future::ready(answer.ok_or_else(|| Error::internal("the call has not read this"))))
    }
}
