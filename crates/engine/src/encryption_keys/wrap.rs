//! Key wrapping: AES-256-GCM with a random nonce. The purpose of the content is the associated data, so that a wrapped
//! key cannot be used in another position.
//!
//! The real world takes random bytes directly from the operating system: the generator of the cryptography library needs a tenth of a
//! second for its first seed, most of the time of a first start (ADR 0005).

use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyform_core::World;
use zeroize::{Zeroize, Zeroizing};

/// Size of a key.
pub(super) const KEY_BYTES: usize = 32;

/// 256-bit key that is wiped when dropped; `Debug` does not show it.
#[derive(Clone)]
pub(super) struct Secret([u8; KEY_BYTES]);

impl Secret {
    pub(super) fn random(world: &dyn World) -> Self {
        let mut key = Self([0; KEY_BYTES]);
        world.fill(&mut key.0);
        key
    }

    pub(super) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    pub(super) fn from_base64(text: &str) -> Option<Self> {
        Self::from_slice(&Zeroizing::new(STANDARD.decode(text).ok()?))
    }

    pub(super) fn to_base64(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(self.0))
    }

    pub(super) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// Encrypts `plain` with `context` as associated data; returns base64 of nonce, ciphertext and tag.
    pub(super) fn wrap(&self, context: &[u8], plain: &[u8], world: &dyn World) -> String {
        let mut buffer = Zeroizing::new(plain.to_vec());
        let mut sealed = vec![0; NONCE_LEN];
        world.fill(&mut sealed);
        let nonce = Nonce::try_assume_unique_for_key(&sealed).expect("the nonce has its length");
        self.cipher().seal_in_place_append_tag(nonce, Aad::from(context), &mut *buffer).expect("a key is short enough");
        sealed.extend_from_slice(&buffer);
        STANDARD.encode(sealed)
    }

    /// Decrypts the result of [`Self::wrap`]; returns `None` if the key or the context differs, or the text was
    /// changed.
    pub(super) fn unwrap(&self, context: &[u8], wrapped: &str) -> Option<Zeroizing<Vec<u8>>> {
        let mut sealed = Zeroizing::new(STANDARD.decode(wrapped).ok()?);
        let (nonce, content) = sealed.split_at_mut_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let plain = self.cipher().open_in_place(nonce, Aad::from(context), content).ok()?;
        Some(Zeroizing::new(plain.to_vec()))
    }

    fn cipher(&self) -> LessSafeKey {
        LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &self.0).expect("the key has the cipher's length"))
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
