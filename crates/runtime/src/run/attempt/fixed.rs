//! Values that all attempts of a call share.
//!
//! ADR 0010: ids, time, token and salt are fixed for all attempts. A retry sends the identical request, so a store that
//! already applied it recognises the token.

use std::sync::{Mutex, PoisonError};

use keyform_language::bind::{CurrentItem, Inputs};

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
    /// Items that the store returned to earlier attempts, at most one for each key.
    seen: Mutex<Vec<CurrentItem>>,
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
            seen: Mutex::default(),
        }
    }

    /// Keeps an item that the store returned, for the next attempt.
    pub(super) fn see(&self, item: CurrentItem) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|other| (&other.table, &other.key) != (&item.table, &item.key));
        seen.push(item);
    }

    /// Returns the items that the store returned to earlier attempts.
    pub(super) fn seen(&self) -> Vec<CurrentItem> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
