//! Values that all attempts of a call share.
//!
//! ADR 0010: ids, time, token and salt are fixed for all attempts. A retry sends the identical request, so a store that
//! already applied it recognises the token.

use keyform_language::bind::Inputs;

use super::state::WriteCall;
use crate::run::remembered::Remembered;

/// Random bytes per call that its nonces are derived from.
const SALT_BYTES: usize = 16;

/// Ids, time, token and salt of a call.
pub(super) struct Fixed<'a> {
    fresh: Remembered<'a>,
    now_millis: i64,
    /// Client request token of an `idempotent` write.
    token: Option<String>,
    /// Salt of the nonces; `None` without keys for encrypted fields.
    pub(super) salt: Option<String>,
}

impl<'a> Fixed<'a> {
    /// Draws the values of a call.
    pub(super) fn of(call: &WriteCall<'a>) -> Self {
        let WriteCall { runner, write, call, .. } = *call;
        let world = &runner.world;
        Self {
            fresh: Remembered::new(world),
            now_millis: world.now_millis(),
            token: write.idempotent.map(|_| call.token.clone().unwrap_or_else(|| world.uuid())),
            salt: runner.settings.field_keys.as_ref().map(|_| world.token(SALT_BYTES)),
        }
    }

    /// Returns the inputs of the next attempt, before any of its reads ran.
    pub(super) fn inputs(&'a self, call: &WriteCall<'a>) -> Inputs<'a> {
        self.fresh.rewind();
        let mut inputs = call.runner.inputs(call.call);
        inputs.fresh = &self.fresh;
        inputs.now_millis = self.now_millis;
        inputs.token.clone_from(&self.token);
        inputs
    }
}
