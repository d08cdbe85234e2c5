//! Refuses a caller whom the write's `allow` does not permit.

use keyform_core::AttributeValue;
use keyform_language::bind::{self, Inputs};
use keyform_language::schema::{LetSource, Write};

use super::state::{Attempt, Read};
use super::step::{Hook, Step};
use crate::run::permit::{Evidence, Permitted};
use crate::run::{Call, RunError, Runner};

#[derive(Debug)]
pub(super) struct Permission;

impl Step for Permission {
    fn read<'r, 'a>(&self, attempt: &'r mut Attempt<'a, Read<'a>>) -> Hook<'r, Result<(), RunError>> {
        let (write, call) = (attempt.of.write, attempt.of.call);
        match attempt.of.runner.permitted(write.allow.as_ref(), call) {
            Permitted::Always => Hook::pass(),
            Permitted::Never => Hook::Ready(Err(RunError::Forbidden)),
            Permitted::If(_) => Hook::wait(async move {
                let lets = attempt.of.runner.known_lets(write, call, &attempt.state.inputs.lets)?;
                let runner = attempt.recording_runner();
                let guards = runner.permit(write.allow.as_ref(), &write.parameters, call, &lets).await?;
                attempt.permitted = true;
                let held = &attempt.of.plan.held;
                let is_held = |evidence: &Evidence| held.iter().any(|held| held.guard == evidence.guard);
                attempt.guards = guards.into_iter().filter(is_held).collect();
                Ok(())
            }),
        }
    }
}

impl Runner {
    /// Returns the values of a write's `let`s for its `allow`: those that were read, and those that are computed from
    /// known values. A fresh id is made for the request and cannot permit it.
    fn known_lets(
        &self,
        write: &Write,
        call: &Call,
        read: &[Option<AttributeValue>],
    ) -> Result<Vec<Option<AttributeValue>>, RunError> {
        let mut lets = read.to_vec();
        for (number, binding) in write.lets.iter().enumerate() {
            if let LetSource::Value(value) = &binding.source
                && !value.is_fresh()
            {
                let inputs = Inputs { lets: lets.clone(), ..self.inputs(call) };
                let value = bind::evaluate(&self.checked.model, value, &write.parameters, &inputs)?;
                if let Some(known) = lets.get_mut(number) {
                    *known = value;
                }
            }
        }
        Ok(lets)
    }
}

#[cfg(test)]
mod tests {
    use super::Permission;
    use crate::run::RunError;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, account, got, now};

    fn permitted(rig: Rig) -> (Result<(), RunError>, usize) {
        let fixed = rig.fixed();
        let mut attempt = rig.reading(&fixed);
        let result = now(Permission.read(&mut attempt).result());
        (result, rig.requests().len())
    }

    #[test]
    fn a_guard_decides_with_one_read() {
        let stored = account("a", "ada");
        let call = || Rig::new("spend", &[("name", "a".into())]).answers([got(Some(&stored))]);
        assert_eq!(permitted(call().called_by("ada")), (Ok(()), 1));
        assert_eq!(permitted(call().called_by("bob")), (Err(RunError::Forbidden), 1));
    }

    #[test]
    fn application_code_is_permitted_without_a_read() {
        assert_eq!(permitted(Rig::new("spend", &[("name", "a".into())])), (Ok(()), 0));
    }

    #[test]
    fn a_system_write_is_not_for_external_callers() {
        let call = Rig::new("close", &[("name", "a".into())]).called_by("ada");
        assert_eq!(permitted(call), (Err(RunError::Forbidden), 0));
    }
}
