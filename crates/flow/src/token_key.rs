//! One key for verifying bearer tokens, with the algorithms that it accepts.

use aws_lc_rs::rsa::PublicEncryptingKey;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, ParsedPublicKey, RsaPublicKeyComponents,
};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject as _;

use crate::token_keys::TokenKeysError;

/// RFC 7518 requires HS256 keys of at least the hash size, because a shorter secret is easier to guess than the hash.
pub(crate) const SECRET_BYTES_MIN: usize = 32;

/// Kind of a key. The kind decides which algorithms the key accepts, so that a public key is never used as a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Secret,
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl KeyKind {
    pub(crate) fn algorithms(self) -> &'static [Algorithm] {
        match self {
            Self::Secret => &[Algorithm::HS256],
            Self::Rsa => &[
                Algorithm::RS256,
                Algorithm::RS384,
                Algorithm::RS512,
                Algorithm::PS256,
                Algorithm::PS384,
                Algorithm::PS512,
            ],
            Self::P256 => &[Algorithm::ES256],
            Self::P384 => &[Algorithm::ES384],
            Self::Ed25519 => &[Algorithm::EdDSA],
        }
    }

    /// Returns whether the library can parse a public key; an RSA key has 2048 to 8192 bits. The library parses the key
    /// again with each token, so an invalid one would otherwise reject every token.
    fn accepts(self, key: &DecodingKeyKind) -> bool {
        match (self, key) {
            (Self::Rsa, DecodingKeyKind::SecretOrDer(der)) => PublicEncryptingKey::from_der(der).is_ok(),
            (Self::Rsa, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                TryInto::<PublicEncryptingKey>::try_into(RsaPublicKeyComponents { n, e }).is_ok()
            }
            (Self::P256, DecodingKeyKind::SecretOrDer(key)) => {
                ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).is_ok()
            }
            (Self::P384, DecodingKeyKind::SecretOrDer(key)) => {
                ParsedPublicKey::new(&ECDSA_P384_SHA384_FIXED, key).is_ok()
            }
            (Self::Ed25519, DecodingKeyKind::SecretOrDer(key)) => ParsedPublicKey::new(&ED25519, key).is_ok(),
            (Self::Secret | Self::P256 | Self::P384 | Self::Ed25519, _) => false,
        }
    }
}

#[derive(Clone)]
pub(crate) struct TokenKey {
    id: Option<String>,
    kind: KeyKind,
    /// The only accepted algorithm, if the key names one.
    only: Option<Algorithm>,
    verifier: DecodingKey,
    /// Present if the key is a secret that may sign.
    signer: Option<EncodingKey>,
}

impl TokenKey {
    pub(crate) fn secret(secret: &[u8]) -> Result<Self, TokenKeysError> {
        if secret.len() < SECRET_BYTES_MIN {
            return Err(TokenKeysError::new("is too short for HS256: a secret has at least 32 bytes"));
        }
        Ok(Self {
            id: None,
            kind: KeyKind::Secret,
            only: None,
            verifier: DecodingKey::from_secret(secret),
            signer: Some(EncodingKey::from_secret(secret)),
        })
    }

    /// Returns `None` if the bytes are not a valid key of this kind.
    pub(crate) fn public(kind: KeyKind, verifier: DecodingKey) -> Option<Self> {
        kind.accepts(verifier.kind()).then_some(Self { id: None, kind, only: None, verifier, signer: None })
    }

    /// Parses a `SubjectPublicKeyInfo`. It names the kind of the key, so at most one kind accepts it.
    pub(crate) fn from_pem(text: &[u8]) -> Option<Self> {
        let der = SubjectPublicKeyInfoDer::from_pem_slice(text).ok()?;
        Self::public(KeyKind::Ed25519, DecodingKey::from_ed_der(&der))
            .or_else(|| Self::public(KeyKind::P256, DecodingKey::from_ec_der(&der)))
            .or_else(|| Self::public(KeyKind::P384, DecodingKey::from_ec_der(&der)))
            .or_else(|| Self::public(KeyKind::Rsa, DecodingKey::from_rsa_der(&der)))
    }

    pub(crate) fn named(self, id: Option<String>) -> Self {
        Self { id, ..self }
    }

    pub(crate) fn limited_to(self, only: Option<Algorithm>) -> Self {
        Self { only, ..self }
    }

    pub(crate) fn without_signer(self) -> Self {
        Self { signer: None, ..self }
    }

    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    pub(crate) fn signer(&self) -> Option<&EncodingKey> {
        self.signer.as_ref()
    }

    /// Returns whether a token with this `kid` may be signed with the key. Without an id on either side, it may.
    pub(crate) fn answers_to(&self, id: Option<&str>) -> bool {
        id.is_none() || self.id.is_none() || self.id.as_deref() == id
    }

    /// Returns whether the key accepts the algorithm and produced the signature, which is base64url.
    pub(crate) fn verify(&self, algorithm: Algorithm, message: &[u8], seal: &str) -> bool {
        // The key decides, not the token.
        let accepted = self.kind.algorithms().contains(&algorithm) && self.only.is_none_or(|only| only == algorithm);
        // An error means that the signature is not base64url, because the keys are valid.
        accepted && jsonwebtoken::crypto::verify(seal, message, &self.verifier, algorithm).unwrap_or(false)
    }
}
