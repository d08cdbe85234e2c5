//! Deletion of idempotency tokens that have timed out.

use keyform_core::Error;
use keyform_core::limits::IDEMPOTENCY_SECS;

use crate::catalog::load;
use crate::engine::{Engine, store_failed};
use crate::key_space;
use crate::store::Batch;
use crate::write::token::{TOKENS, applied_ms};

/// Tokens deleted per commit.
const CHUNK: usize = 256;

impl Engine {
    pub(super) fn forget_tokens(&self) -> Result<(), Error> {
        let mut old = Vec::new();
        for entry in load::prefixed(&self.store.snapshot(), &key_space::system_key(TOKENS, b"")) {
            let (key, value) = entry.map_err(|error| store_failed(&error))?;
            if self.is_over(&value) {
                old.push(key);
            }
            if old.len() == CHUNK {
                self.forget(&old)?;
                old.clear();
            }
            if self.work.is_stopping() {
                return Ok(());
            }
        }
        self.forget(&old)
    }

    fn is_over(&self, stored: &[u8]) -> bool {
        let end_ms = applied_ms(stored).map_or(0, |applied_ms| applied_ms.saturating_add(IDEMPOTENCY_SECS * 1000));
        self.now_ms() >= end_ms
    }

    /// Deletes tokens that have timed out. Checks again under the lock, because a token may have been used again.
    fn forget(&self, keys: &[bytes::Bytes]) -> Result<(), Error> {
        if keys.is_empty() {
            return Ok(());
        }
        let guard = self.locks.lock_all(keys.iter().map(|key| key.as_ref()));
        let mut batch = Batch::new();
        for key in keys {
            if self.newest_bytes(key)?.is_some_and(|stored| self.is_over(&stored)) {
                batch.delete(key.clone());
            }
        }
        let commit = self.store.commit(batch);
        drop(guard);
        commit.wait().map(drop).map_err(|error| store_failed(&error))
    }
}
