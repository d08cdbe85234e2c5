//! Refuses a caller whom the write's `allow` does not permit.

use super::state::{Attempt, Read};
use super::step::{Hook, Step};
use crate::run::RunError;
use crate::run::permit::Permitted;

#[derive(Debug)]
pub(super) struct Permission;

impl Step for Permission {
    fn read<'r, 'a>(&self, attempt: &'r mut Attempt<'a, Read<'a>>) -> Hook<'r, Result<(), RunError>> {
        let (write, call) = (attempt.of.write, attempt.of.call);
        match attempt.of.runner.permitted(write.allow.as_ref(), call) {
            Permitted::Always => Hook::pass(),
            Permitted::Never => Hook::Ready(Err(RunError::Forbidden)),
            Permitted::If(_) => Hook::wait(async move {
                let lets = &attempt.state.inputs.lets;
                attempt.recording_runner().permit(write.allow.as_ref(), &write.parameters, call, lets).await
            }),
        }
    }
}
