//! Supplies the cipher of encrypted fields. Each attempt uses the same salt, so that a retry sends the same bytes.

use std::sync::Arc;

use super::state::{Attempt, Read};
use super::step::{Hook, Step};
use crate::run::RunError;
use crate::seal;

#[derive(Debug)]
pub(super) struct Sealing;

impl Step for Sealing {
    fn read<'r, 'a>(&self, attempt: &'r mut Attempt<'a, Read<'a>>) -> Hook<'r, Result<(), RunError>> {
        let ring = attempt.of.runner.settings.field_keys.as_ref();
        if let Some((ring, salt)) = ring.zip(attempt.fixed.salt.as_ref()) {
            attempt.state.inputs.sealing = Some(Arc::new(seal::Sealing { ring, salt: salt.clone() }));
        }
        Hook::pass()
    }
}
