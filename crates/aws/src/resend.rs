//! Decides whether a write of one item may be repeated when its outcome is unknown (ADR 0017).
//!
//! A connection may break, or the service may fail, after a write was applied and before its response arrived. The SDK
//! repeats such a request. That is right for reads, for transactions (they carry a token) and for idempotent writes.
//! But a counter would be incremented twice, and a condition would fail on what the first attempt wrote: such writes
//! are repeated only if they certainly were not applied, because the connection was refused or the service reported
//! so.

use std::error::Error as StdError;

use aws_sdk_dynamodb::config::interceptors::InterceptorContext;
use aws_sdk_dynamodb::config::retry::{ClassifyRetry, RetryAction};
use aws_sdk_dynamodb::config::{Builder, Config};
use keyform_core::expression::{Condition, SetValue, Update, UpdateOperand};
use keyform_core::operation;
use keyform_core::value::AttributeType;

/// First status code that leaves open whether the request was applied.
const SERVER_ERRORS: u16 = 500;

/// Returns a configuration that retries a request only if it certainly was not applied.
pub(crate) fn only_if_not_applied() -> Builder {
    Config::builder().retry_classifier(OnlyIfNotApplied)
}

#[derive(Debug)]
struct OnlyIfNotApplied;

impl ClassifyRetry for OnlyIfNotApplied {
    fn classify_retry(&self, context: &InterceptorContext) -> RetryAction {
        let Some(Err(error)) = context.output_or_error() else { return RetryAction::NoActionIndicated };
        let answered = context.response().is_some_and(|response| response.status().as_u16() < SERVER_ERRORS);
        if error.is_operation_error() && answered || was_refused(error.as_connector_error().map(|error| error as _)) {
            RetryAction::NoActionIndicated
        } else {
            RetryAction::RetryForbidden
        }
    }

    fn name(&self) -> &'static str {
        "only if not applied"
    }
}

/// Returns whether no connection was established, so that nothing can have been delivered: name resolution failed, the
/// connection was refused or timed out, or the TLS handshake failed.
pub(crate) fn was_refused(mut error: Option<&(dyn StdError + 'static)>) -> bool {
    while let Some(inner) = error {
        if inner.downcast_ref::<hyper_util::client::legacy::Error>().is_some_and(|failed| failed.is_connect()) {
            return true;
        }
        error = inner.source();
    }
    false
}

/// Returns whether a put is idempotent.
pub(crate) fn may_put_again(put: &operation::PutItem) -> bool {
    put.options.condition.is_none() && put.options.return_values == operation::ReturnValues::None
}

/// Returns whether a delete is idempotent.
pub(crate) fn may_delete_again(delete: &operation::DeleteItem) -> bool {
    delete.options.condition.is_none() && delete.options.return_values == operation::ReturnValues::None
}

/// Returns whether an update is idempotent: it assigns constants, removes attributes or changes sets, and its
/// condition uses nothing that it changes.
pub(crate) fn may_update_again(update: &operation::UpdateItem) -> bool {
    use operation::ReturnValues::{AllNew, None, UpdatedNew};
    let Some(changes) = &update.update else { return update.options.condition.is_none() };
    matches!(update.options.return_values, None | AllNew | UpdatedNew)
        && is_repeatable(changes)
        && update.options.condition.as_ref().is_none_or(|condition| is_apart(condition, changes))
}

fn is_repeatable(update: &Update) -> bool {
    let sets = update.set.iter().all(|set| matches!(&set.value, SetValue::Operand(UpdateOperand::Value(_))));
    // Removing a list element shifts the next one into its position, so repeating it removes another.
    let removes = update.remove.iter().all(|path| path.elements.len() == 1);
    let adds = update.add.iter().all(|(_, value)| value.kind() != AttributeType::N);
    sets && removes && adds
}

fn is_apart(condition: &Condition, update: &Update) -> bool {
    let changed = update.set.iter().map(|set| &set.path).chain(&update.remove);
    let changed = changed.chain(update.add.iter().chain(&update.delete).map(|(path, _)| path));
    let roots = condition.roots();
    changed.into_iter().all(|path| !roots.iter().any(|root| path.root() == *root))
}
