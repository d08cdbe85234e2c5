//! Recorded reads that a call was permitted by, and a store that answers only from them.
//!
//! A refused write includes its item if the caller may read it. Deciding that with new reads would make a refusal cost
//! more than `explain` reports, and would let callers cause reads with failing writes. The reads that permitted the
//! call decide it for free: a guard that held for the write holds for the read.

use std::sync::{Arc, Mutex, PoisonError};

use keyform_core::execute::BoxFuture;
use keyform_core::{Error, Execute, Operation, Output};

/// Forwards operations and records their outputs.
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

    /// Returns whether anything was read.
    #[cfg(test)]
    pub(super) fn has_answers(&self) -> bool {
        !self.answers.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
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

/// Answers recorded operations and fails for all others.
pub(super) struct OnlyKnown(pub(super) Option<Arc<Known>>);

impl Execute for OnlyKnown {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let answer = self.0.as_ref().and_then(|known| known.answer(&operation));
        Box::pin(std::future::ready(answer.ok_or_else(|| Error::internal("the call has not read this"))))
    }
}
