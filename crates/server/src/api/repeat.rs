//! Scope of an `Idempotency-Key` for flows. Flows handle repeated calls in their own code; the runner stores the keys
//! of a model's writes.

use aws_lc_rs::digest;
use keyform_core::Item;
use keyform_runtime::run::Caller;

type Hash = [u8; 32];

/// Identity of a call. The same key from another caller or for another pattern is a different call.
pub(super) struct Scope<'a> {
    pub(super) model: &'a str,
    pub(super) pattern: &'a str,
    pub(super) caller: &'a Caller,
    pub(super) key: &'a str,
}

impl Scope<'_> {
    fn hash(&self) -> Hash {
        let claims = match self.caller {
            Caller::System => Vec::new(),
            Caller::Claims(claims) => Item::from(claims).as_bytes().to_vec(),
        };
        hash(&[self.model.as_bytes(), self.pattern.as_bytes(), &claims, self.key.as_bytes()])
    }

    /// Returns the token that identifies the call in the store.
    pub(super) fn token(&self) -> String {
        hex::encode(&self.hash()[..16])
    }
}

/// Hashes length-prefixed parts, so that different lists never produce the same input.
fn hash(parts: &[&[u8]]) -> Hash {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_le_bytes());
        context.update(part);
    }
    let mut hash = Hash::default();
    hash.copy_from_slice(context.finish().as_ref());
    hash
}
