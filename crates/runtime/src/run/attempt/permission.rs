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
