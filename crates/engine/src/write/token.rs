//! Idempotency tokens: a transaction repeated within ten minutes is not applied again, but gets a success response.
//!
//! The token is stored in the same batch as the transaction's writes, with a fingerprint of the request.

use std::fmt::{self, Write};

use keyform_core::Error;
use keyform_core::error::transaction as texts;
use keyform_core::limits::IDEMPOTENCY_SECS;
use twox_hash::XxHash3_128;

use crate::engine::Engine;
use crate::key_space;
use crate::store::Batch;

/// Kind of the system records that hold tokens.
pub const TOKENS: u8 = b't';

/// Idempotency token of a request.
pub struct Token {
    key: Vec<u8>,
    fingerprint: [u8; 16],
}

impl Token {
    /// Creates a token with the fingerprint of the request.
    pub fn new(token: &str, request: &impl fmt::Debug) -> Self {
        let mut hasher = Hasher(XxHash3_128::with_seed(0));
        write!(hasher, "{request:?}").expect("a hasher takes everything");
        Self { key: key_space::system_key(TOKENS, token.as_bytes()), fingerprint: hasher.0.finish_128().to_be_bytes() }
    }

    /// Returns the store key of the token, which is locked like an item's.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Returns whether the request was already applied. The caller holds the token's lock.
    pub fn was_applied(&self, engine: &Engine) -> Result<bool, Error> {
        if engine.in_flight.contains(&self.key) {
            return Err(texts::in_progress());
        }
        let Some((fingerprint, applied_ms)) = engine.newest_bytes(&self.key)?.as_deref().and_then(decode) else {
            return Ok(false);
        };
        if engine.now_ms() >= applied_ms.saturating_add(IDEMPOTENCY_SECS * 1000) {
            return Ok(false);
        }
        if fingerprint == self.fingerprint { Ok(true) } else { Err(texts::token_mismatch()) }
    }

    /// Stages the record that the request is applied.
    pub fn stage(&self, batch: &mut Batch, now_ms: u64) {
        let value = [self.fingerprint.as_slice(), &now_ms.to_be_bytes()].concat();
        batch.put(self.key.clone(), value);
    }
}

/// Returns the time at which a token's transaction was applied, from its stored form.
pub fn applied_ms(stored: &[u8]) -> Option<u64> {
    decode(stored).map(|(_, applied_ms)| applied_ms)
}

fn decode(stored: &[u8]) -> Option<([u8; 16], u64)> {
    let (fingerprint, applied_ms) = stored.split_first_chunk::<16>()?;
    Some((*fingerprint, u64::from_be_bytes(applied_ms.try_into().ok()?)))
}

struct Hasher(XxHash3_128);

impl Write for Hasher {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
