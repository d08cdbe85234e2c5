//! Deletes an expired item that made an upsert fail; the whole write is then repeated (ADR 0017).

use keyform_core::ErrorCode;
use keyform_core::operation::DeleteItem;

use super::state::{Attempt, Sent, Written};
use super::step::{Hook, Step};
use crate::contention::first_failed_condition;
use crate::run::RunError;

#[derive(Debug)]
pub(super) struct Expired;

impl Step for Expired {
    fn decide<'r>(&self, attempt: &'r mut Attempt<'_, Sent>) -> Option<Hook<'r, Result<Written, RunError>>> {
        let clearing = clearing(&attempt.state)?;
        let runner = attempt.of.runner;
        Some(Hook::wait(async move {
            match runner.call(clearing).await {
                // A failed condition means that the store or another process was faster.
                Err(error) if error.code() != ErrorCode::ConditionalCheckFailed => Err(error.into()),
                _ => Err(RunError::Busy),
            }
        }))
    }
}

/// Returns the request that deletes an expired item, if such an item made the request fail.
fn clearing(sent: &Sent) -> Option<DeleteItem> {
    let failed = first_failed_condition(sent.response.error()?)?;
    let clearing = sent.actions.get(failed.action)?.clearing.as_ref()?;
    (!clearing.lives.holds(failed.item)).then(|| clearing.delete.clone())
}

#[cfg(test)]
mod tests {
    use keyform_core::{AttributeValue, Operation};

    use super::Expired;
    use crate::run::RunError;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{NOW_MILLIS, Rig, attributes, condition_failed, now, written};

    fn touched(ends_secs: i64) -> Rig {
        let ends = AttributeValue::from(ends_secs);
        let session = attributes(&[("pk", "SESSION#s".into()), ("sk", "META".into()), ("ends", ends)]);
        Rig::new("touch", &[("session", "s".into()), ("ends", (NOW_MILLIS / 1000 + 60).into())])
            .answers([condition_failed(Some(&session)), written(None)])
    }

    #[test]
    fn an_expired_item_is_deleted_and_the_upsert_repeated() {
        let rig = touched(NOW_MILLIS / 1000 - 60);
        let fixed = rig.fixed();
        let mut attempt = rig.sent(&fixed);
        let decision = Expired.decide(&mut attempt).unwrap();
        assert_eq!(now(decision.result()), Err(RunError::Busy));
        assert!(
            matches!(rig.requests().last(), Some(Operation::DeleteItem(delete)) if delete.options.condition.is_some())
        );
    }

    #[test]
    fn a_live_item_is_left_to_the_other_steps() {
        let rig = touched(NOW_MILLIS / 1000 + 60);
        let fixed = rig.fixed();
        assert!(Expired.decide(&mut rig.sent(&fixed)).is_none());
    }
}
