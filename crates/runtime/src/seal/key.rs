//! Key of encrypted fields, and its id.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyform_core::World;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

pub(super) const KEY_BYTES: usize = 32;
pub(super) const ID_BYTES: usize = 8;

/// Fingerprint of a key, safe to show: 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub(super) [u8; ID_BYTES]);

impl KeyId {
    /// Parses 16 hexadecimal digits.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let mut id = [0; ID_BYTES];
        hex::decode_to_slice(text, &mut id).ok()?;
        Some(Self(id))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// 256-bit key. Zeroed on drop, and never printed.
#[derive(Clone)]
pub struct FieldKey {
    id: KeyId,
    secret: [u8; KEY_BYTES],
}

impl FieldKey {
    /// Creates a key from its bytes.
    #[must_use]
    pub fn new(secret: [u8; KEY_BYTES]) -> Self {
        let digest = Sha256::new().chain_update(b"keyform field key id").chain_update(secret).finalize();
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&digest[..ID_BYTES]);
        Self { id: KeyId(id), secret }
    }

    /// Generates a random key.
    #[must_use]
    pub fn generate(world: &dyn World) -> Self {
        let mut secret = Zeroizing::new([0; KEY_BYTES]);
        world.fill(secret.as_mut());
        Self::new(*secret)
    }

    /// Parses a key from base64.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).ok()?);
        bytes.as_slice().try_into().ok().map(Self::new)
    }

    /// Encodes the key in base64.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(self.secret))
    }

    /// Returns the fingerprint, which is stored in every encrypted value.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id
    }

    pub(super) fn secret(&self) -> &[u8; KEY_BYTES] {
        &self.secret
    }
}

impl Drop for FieldKey {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

impl fmt::Debug for FieldKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FieldKey({})", self.id)
    }
}
