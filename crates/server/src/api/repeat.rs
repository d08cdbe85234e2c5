//! Which call is repeated under an `Idempotency-Key`: for flows, whose own code takes care of it. A write of the model keeps its key in the store.

use aws_lc_rs::digest;
use keyform_core::Item;
use keyform_runtime::run::Caller;

type Hash = [u8; 32];

/// Which call it is: the same key of another caller or for another pattern is another call.
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

    /// The token for the store.
    pub(super) fn token(&self) -> String {
        self.hash()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The parts, each with its length, so that no two lists of parts read the same.
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
