//! Drives the attempts of a call through the steps.

use std::ops::ControlFlow;

use keyform_language::schema::{Write, WriteId};

use super::STEPS;
use super::fixed::Fixed;
use super::idempotency::Once;
use super::state::{Attempt, Bound, Decided, Read, Sent, WriteCall, Written};
use crate::run::{Call, Found, RunError, Runner};

impl Runner {
    /// Runs a write. With `once`, it is applied exactly once per idempotency key.
    pub(in crate::run) async fn run_write(
        &self,
        id: WriteId,
        write: &Write,
        call: &Call,
        once: Option<&Once>,
    ) -> Result<Option<Found>, RunError> {
        let Some(plan) = &self.checked.plans.writes[id.0] else {
            return Err(RunError::NotRunnable(format!("`{}` has no plan: run `keyform check`", write.name)));
        };
        let of = WriteCall { runner: self, write, plan, call, once };
        STEPS.iter().try_for_each(|step| step.admit(&of))?;
        let fixed = Fixed::of(&of);
        let mut lost = 0;
        loop {
            let decided = attempt(Attempt::begin(of, &fixed, lost)).await;
            match decided.written {
                _ if decided.again => lost += 1,
                Ok(Written::Applied(found)) => return Ok(found),
                Ok(Written::Kept) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}

async fn attempt<'a>(attempt: Attempt<'a, Read<'a>>) -> Decided {
    let mut decided = match read(attempt).await {
        ControlFlow::Break(decided) => decided,
        ControlFlow::Continue(bound) => match before(bound).await {
            ControlFlow::Break(decided) => decided,
            ControlFlow::Continue(bound) => decide(bound.send().await).await,
        },
    };
    for step in STEPS.iter().rev() {
        step.after(&mut decided).result().await;
    }
    decided.state
}

async fn read<'a>(mut attempt: Attempt<'a, Read<'a>>) -> ControlFlow<Attempt<'a, Decided>, Attempt<'a, Bound>> {
    for step in &STEPS {
        if let Err(error) = step.read(&mut attempt).result().await {
            return ControlFlow::Break(attempt.decided(Err(error)));
        }
    }
    attempt.bind()
}

async fn before<'a>(mut attempt: Attempt<'a, Bound>) -> ControlFlow<Attempt<'a, Decided>, Attempt<'a, Bound>> {
    for step in &STEPS {
        if let Err(error) = step.before(&mut attempt).result().await {
            return ControlFlow::Break(attempt.decided(Err(error)));
        }
    }
    ControlFlow::Continue(attempt)
}

async fn decide<'a>(mut attempt: Attempt<'a, Sent>) -> Attempt<'a, Decided> {
    for step in &STEPS {
        let Some(decision) = step.decide(&mut attempt) else { continue };
        let written = decision.result().await;
        return attempt.decided(written);
    }
    // The response was neither an error, which `refusal` takes, nor one that any step knows.
    attempt.decided(Ok(Written::Applied(None)))
}
