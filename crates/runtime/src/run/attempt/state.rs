//! States of an attempt. Each state holds what the steps can use from then on, so a step cannot, for example, look at
//! the response before the request was sent.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use keyform_core::{Attributes, Error, Output};
use keyform_language::bind::{self, BoundAction, CurrentItem, Inputs, Parent, WriteOperation};
use keyform_language::plan::WritePlan;
use keyform_language::schema::{Permission, Write};

use super::fixed::Fixed;
use super::idempotency::Once;
use super::refusal;
use super::returned_item::Promised;
use crate::run::known::Known;
use crate::run::permit::{Evidence, Permitted};
use crate::run::{Call, Caller, Found, RunError, Runner};

/// Call of a write, the same for all of its attempts.
#[derive(Clone, Copy)]
pub(super) struct WriteCall<'a> {
    pub(super) runner: &'a Runner,
    pub(super) write: &'a Write,
    pub(super) plan: &'a WritePlan,
    pub(super) call: &'a Call,
    /// Idempotency key of the caller.
    pub(super) once: Option<&'a Once>,
}

/// One attempt of a write, in the state `S`: [`Read`], then [`Bound`], [`Sent`] and [`Decided`].
pub(super) struct Attempt<'a, S> {
    pub(super) of: WriteCall<'a>,
    pub(super) fixed: &'a Fixed<'a>,
    /// Attempts of the call that lost before this one.
    pub(super) lost: u32,
    /// Reads that the permission was decided by, for an external caller.
    pub(super) known: Option<Arc<Known>>,
    /// True once `allow` has permitted the call in this attempt.
    pub(super) permitted: bool,
    /// Guards that permitted the call and that the request carries.
    pub(super) guards: Vec<Evidence>,
    pub(super) state: S,
}

/// The inputs are being read.
pub(super) struct Read<'a> {
    pub(super) inputs: Inputs<'a>,
}

/// The request is known and not sent yet.
pub(super) struct Bound {
    pub(super) operation: WriteOperation,
    /// Possible refusals of each action of the request, in the same order.
    pub(super) actions: Vec<BoundAction>,
    /// Items that were read before the request.
    pub(super) current: Vec<CurrentItem>,
    /// Source of the item that the write returns.
    pub(super) promised: Option<Promised>,
    pub(super) deleted: Deleted,
}

/// The store has answered.
pub(super) struct Sent {
    pub(super) actions: Vec<BoundAction>,
    pub(super) promised: Option<Promised>,
    pub(super) deleted: Deleted,
    /// True if the request was a DeleteItem, whose response holds the item before the request.
    pub(super) is_delete: bool,
    /// True if the store recognises a repeated request by its token.
    pub(super) has_token: bool,
    pub(super) response: Response,
}

/// The result is known.
pub(super) struct Decided {
    pub(super) deleted: Deleted,
    pub(super) written: Result<Written, RunError>,
    /// True if the result does not count because one more attempt follows.
    pub(super) again: bool,
}

/// Deleted items that other items refer to.
#[derive(Default)]
pub(super) struct Deleted {
    pub(super) parents: Vec<Parent>,
    /// Intents that are not part of the request and have to be put before it.
    pub(super) intents: Vec<Attributes>,
    /// True once such intents were put: they are withdrawn if the parents are not deleted.
    pub(super) announced: bool,
}

/// Response of the store.
pub(super) enum Response {
    /// Response to one atomic request.
    Request(Result<Output, Error>),
    /// Result of a batch, which is several requests.
    Batch(Result<(), RunError>),
}

/// Result of a write that was not refused.
#[derive(Debug, PartialEq)]
pub(super) enum Written {
    /// Applied; holds the item that the write returns.
    Applied(Option<Found>),
    /// Nothing to do, or a failed condition whose outcome is `keep`.
    Kept,
}

impl<'a> Attempt<'a, Read<'a>> {
    pub(super) fn begin(of: WriteCall<'a>, fixed: &'a Fixed<'a>, lost: u32) -> Self {
        let permitted = matches!(of.runner.permitted(of.write.allow.as_ref(), of.call), Permitted::Always);
        let state = Read { inputs: fixed.inputs(&of) };
        Self { of, fixed, lost, known: recorder(&of), permitted, guards: Vec::new(), state }
    }

    /// Returns the runner for the reads that permit the call. It records them: a refusal includes an item only if these
    /// reads permit it.
    pub(super) fn recording_runner(&self) -> Cow<'a, Runner> {
        match &self.known {
            Some(known) => Cow::Owned(self.of.runner.on(known.clone())),
            None => Cow::Borrowed(self.of.runner),
        }
    }

    /// Computes the request. Breaks if the write is refused without one, or has nothing to do.
    pub(super) fn bind(mut self) -> ControlFlow<Attempt<'a, Decided>, Attempt<'a, Bound>> {
        // After the items that this attempt has read, which are more recent.
        self.state.inputs.current.extend(self.fixed.seen());
        let WriteCall { runner, write, plan, .. } = self.of;
        let bound = match bind::write(&runner.checked.model, write, plan, &self.state.inputs) {
            Ok(bound) => bound,
            Err(error) => return ControlFlow::Break(self.decided(Err(error.into()))),
        };
        if let Some(refused) = &bound.refused {
            return ControlFlow::Break(self.decided(refusal::named(&refused.outcome, None)));
        }
        let Some(operation) = bound.operation else { return ControlFlow::Break(self.decided(Ok(Written::Kept))) };
        let Self { of, fixed, lost, known, permitted, guards, state: Read { inputs } } = self;
        let deleted = Deleted { parents: bound.parents, ..Deleted::default() };
        let state = Bound { operation, actions: bound.actions, current: inputs.current, promised: None, deleted };
        ControlFlow::Continue(Attempt { of, fixed, lost, known, permitted, guards, state })
    }

    /// Ends the attempt before anything was sent.
    pub(super) fn decided(self, written: Result<Written, RunError>) -> Attempt<'a, Decided> {
        self.into_decided(|_| Deleted::default(), written)
    }
}

impl<'a> Attempt<'a, Bound> {
    pub(super) async fn send(self) -> Attempt<'a, Sent> {
        let Self { of, fixed, lost, known, permitted, guards, state } = self;
        let Bound { operation, actions, promised, deleted, .. } = state;
        let is_delete = matches!(operation, WriteOperation::Delete(_));
        let has_token = matches!(&operation, WriteOperation::Transact(transaction) if transaction.token.is_some());
        let response = match operation {
            WriteOperation::Batch(batch) => Response::Batch(Box::pin(of.runner.apply_batch(batch)).await),
            WriteOperation::Put(_)
            | WriteOperation::Update(_)
            | WriteOperation::Delete(_)
            | WriteOperation::Transact(_) => Response::Request(of.runner.send(operation.into()).await),
        };
        let state = Sent { actions, promised, deleted, is_delete, has_token, response };
        Attempt { of, fixed, lost, known, permitted, guards, state }
    }

    /// Ends the attempt before the request was sent.
    pub(super) fn decided(self, written: Result<Written, RunError>) -> Attempt<'a, Decided> {
        self.into_decided(|state| state.deleted, written)
    }
}

impl<'a> Attempt<'a, Sent> {
    pub(super) fn decided(self, written: Result<Written, RunError>) -> Attempt<'a, Decided> {
        self.into_decided(|state| state.deleted, written)
    }
}

impl<'a, S> Attempt<'a, S> {
    fn into_decided(
        self,
        deleted: impl FnOnce(S) -> Deleted,
        written: Result<Written, RunError>,
    ) -> Attempt<'a, Decided> {
        let Self { of, fixed, lost, known, permitted, guards, state } = self;
        let state = Decided { deleted: deleted(state), written, again: false };
        Attempt { of, fixed, lost, known, permitted, guards, state }
    }
}

impl Response {
    /// Returns the output of an atomic request that succeeded.
    pub(super) fn output(&self) -> Option<&Output> {
        match self {
            Self::Request(response) => response.as_ref().ok(),
            Self::Batch(_) => None,
        }
    }

    /// Returns the error of an atomic request that failed.
    pub(super) fn error(&self) -> Option<&Error> {
        match self {
            Self::Request(response) => response.as_ref().err(),
            Self::Batch(_) => None,
        }
    }
}

/// Returns a store that records what permits the call, if anything is read for an external caller.
fn recorder(call: &WriteCall<'_>) -> Option<Arc<Known>> {
    let asks = matches!(call.write.allow, Some(Permission::When(_))) || !call.write.lets.is_empty();
    let is_outside = matches!(call.call.caller, Caller::Claims(_));
    (asks && is_outside).then(|| Arc::new(Known::on(call.runner.store.clone())))
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use keyform_core::{AttributeValue, Operation};

    use super::Written;
    use crate::run::RunError;
    use crate::run::attempt::testing::{Rig, now, written};

    fn undone(rig: &Rig, prepare: impl FnOnce(&mut Vec<Option<AttributeValue>>)) -> Result<Written, RunError> {
        let fixed = rig.fixed();
        let mut attempt = rig.reading(&fixed);
        prepare(&mut attempt.state.inputs.lets);
        match attempt.bind() {
            ControlFlow::Break(decided) => decided.state.written,
            ControlFlow::Continue(bound) => panic!("{:?}", bound.state.operation),
        }
    }

    #[test]
    fn a_write_that_its_reads_refuse_or_that_has_nothing_to_do_is_decided_without_a_request() {
        let copy = Rig::new("copy", &[("name", "a".into()), ("to", "b".into())]);
        let refused = RunError::Refused { outcome: "UnknownAccount".to_owned(), item: None };
        assert_eq!(undone(&copy, |lets| lets.push(None)), Err(refused));
        let import = Rig::new("import", &[("names", AttributeValue::L(Vec::new()))]);
        assert_eq!(undone(&import, |_| {}), Ok(Written::Kept));
    }

    #[test]
    fn the_request_of_every_attempt_is_the_same() {
        let rig = Rig::new("move", &[("name", "a".into()), ("to", "b".into())]).answers([written(None), written(None)]);
        let fixed = rig.fixed();
        now(rig.bound(&fixed).send());
        let again = now(rig.bound(&fixed).send());
        assert!(again.state.has_token);
        let requests = rig.requests();
        assert!(matches!(requests[0], Operation::TransactWriteItems(_)));
        assert_eq!(requests[0], requests[1]);
    }
}
