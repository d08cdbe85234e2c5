//! Keys for verifying bearer tokens, and their file formats.
//!
//! A key file contains one of these:
//! - a JSON Web Key or a key set (`{"keys": […]}`): `kty` `oct` for HS256, `kty` `OKP` with `crv` `Ed25519` for EdDSA;
//!   `kid` if there are several;
//! - an Ed25519 public key in PEM (`-----BEGIN PUBLIC KEY-----`);
//! - otherwise a secret of at least 32 bytes for HS256; surrounding white space is ignored.
//!
//! Each key is bound to one algorithm, so that a token cannot select another. A file with a secret must not be readable
//! by other users.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::{hmac, signature};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use keyform_core::World as _;
use keyform_world::SystemWorld;
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use crate::credentials;

/// RFC 7518 requires HS256 keys of at least the hash size, because a shorter secret is easier to guess than the hash.
const SECRET_BYTES_MIN: usize = 32;
const PUBLIC_KEY_BYTES: usize = 32;
/// DER prefix of an Ed25519 public key.
const ED25519_PREFIX: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Keys for verifying bearer tokens, and for issuing them if one is a secret.
#[derive(Clone, Default)]
pub struct TokenKeys {
    keys: Vec<TokenKey>,
    /// Set for a generated development key that was not configured.
    made_up: bool,
}

#[derive(Clone)]
struct TokenKey {
    id: Option<String>,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Hs256(Box<hmac::Key>),
    EdDsa([u8; PUBLIC_KEY_BYTES]),
}

impl TokenKeys {
    /// Creates a single HS256 key.
    ///
    /// # Errors
    /// The secret is shorter than 32 bytes.
    pub fn secret(secret: &[u8]) -> Result<Self, TokenKeysError> {
        Ok(Self::of(vec![TokenKey { id: None, kind: shared(secret)? }]))
    }

    fn of(keys: Vec<TokenKey>) -> Self {
        Self { keys, made_up: false }
    }

    /// Generates a secret for the lifetime of the process, for development. Tokens issued by flows are verified with
    /// it; callers without a token may still use the development header.
    ///
    /// # Panics
    /// If the operating system provides no random bytes.
    #[must_use]
    pub fn made_up() -> Self {
        let mut secret = Zeroizing::new([0; SECRET_BYTES_MIN]);
        SystemWorld.fill(secret.as_mut());
        let kind = Kind::Hs256(Box::new(hmac::Key::new(hmac::HMAC_SHA256, secret.as_ref())));
        Self { keys: vec![TokenKey { id: None, kind }], made_up: true }
    }

    /// Issues a token with these claims that expires after `lifetime`, signed with the first secret. Returns `None` if
    /// there are only public keys.
    #[must_use]
    pub fn issue(&self, claims: Map<String, Value>, lifetime: Duration, now: SystemTime) -> Option<String> {
        let secret = self.keys.iter().find_map(|key| match &key.kind {
            Kind::Hs256(secret) => Some((key.id.as_deref(), secret)),
            Kind::EdDsa(_) => None,
        });
        let (id, secret) = secret?;
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut claims = claims;
        claims.insert("iat".to_owned(), seconds.into());
        claims.insert("exp".to_owned(), (seconds + lifetime.as_secs()).into());
        let head = match id {
            Some(id) => json!({ "alg": "HS256", "typ": "JWT", "kid": id }),
            None => json!({ "alg": "HS256", "typ": "JWT" }),
        };
        let encoded = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encoded(head), encoded(Value::Object(claims)));
        let seal = hmac::sign(secret, signed.as_bytes());
        Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(seal)))
    }

    /// Loads a key file.
    ///
    /// # Errors
    /// The file cannot be read, contains no usable key, or contains a secret that other users can read.
    pub fn load(file: &Path) -> Result<Self, TokenKeysError> {
        let text = fs::read(file).map_err(|error| TokenKeysError::io(file, &error.to_string()))?;
        let keys = Self::parse(&Zeroizing::new(text)).map_err(|error| error.of(file))?;
        if keys.keys.iter().any(|key| matches!(key.kind, Kind::Hs256(_))) {
            credentials::refuse_exposed(file).map_err(|error| TokenKeysError::io(file, &error.to_string()))?;
        }
        Ok(keys)
    }

    /// Parses the contents of a key file.
    ///
    /// # Errors
    /// The text contains no usable key.
    pub fn parse(text: &[u8]) -> Result<Self, TokenKeysError> {
        let text = text.trim_ascii();
        if text.starts_with(b"{") {
            return from_json(text);
        }
        if text.starts_with(b"-----BEGIN") {
            let key = from_pem(text).ok_or_else(|| TokenKeysError::new("is no public key of Ed25519 in PEM"))?;
            return Ok(Self::of(vec![TokenKey { id: None, kind: Kind::EdDsa(key) }]));
        }
        Self::secret(text)
    }

    /// Returns whether no key was configured. A key from [`TokenKeys::made_up`] does not count.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() || self.made_up
    }

    /// Returns whether there is a secret to sign tokens with.
    #[must_use]
    pub fn can_issue(&self) -> bool {
        self.keys.iter().any(|key| matches!(key.kind, Kind::Hs256(_)))
    }

    /// Returns whether a key with this algorithm and id produced the signature.
    pub(super) fn verify(&self, algorithm: &str, id: Option<&str>, message: &[u8], seal: &[u8]) -> bool {
        let named = |key: &&TokenKey| id.is_none() || key.id.is_none() || key.id.as_deref() == id;
        self.keys.iter().filter(named).any(|key| match &key.kind {
            Kind::Hs256(key) => algorithm == "HS256" && hmac::verify(key, message, seal).is_ok(),
            Kind::EdDsa(key) => {
                let key = signature::UnparsedPublicKey::new(&signature::ED25519, key);
                algorithm == "EdDSA" && key.verify(message, seal).is_ok()
            }
        })
    }
}

impl fmt::Debug for TokenKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenKeys({})", self.keys.len())
    }
}

fn shared(secret: &[u8]) -> Result<Kind, TokenKeysError> {
    if secret.len() < SECRET_BYTES_MIN {
        return Err(TokenKeysError::new("is too short for HS256: a secret has at least 32 bytes"));
    }
    Ok(Kind::Hs256(Box::new(hmac::Key::new(hmac::HMAC_SHA256, secret))))
}

fn from_pem(text: &[u8]) -> Option<[u8; PUBLIC_KEY_BYTES]> {
    let text = std::str::from_utf8(text).ok()?;
    let inner = text.strip_prefix("-----BEGIN PUBLIC KEY-----")?.strip_suffix("-----END PUBLIC KEY-----")?;
    let digits: String = inner.split_whitespace().collect();
    STANDARD.decode(digits).ok()?.strip_prefix(ED25519_PREFIX.as_slice())?.try_into().ok()
}

fn from_json(text: &[u8]) -> Result<TokenKeys, TokenKeysError> {
    let value: Value =
        serde_json::from_slice(text).map_err(|error| TokenKeysError::new(&format!("is not valid JSON: {error}")))?;
    let keys = match value.get("keys").and_then(Value::as_array) {
        Some(keys) => keys.iter().map(from_jwk).collect::<Result<Vec<_>, _>>()?,
        None => vec![from_jwk(&value)?],
    };
    if keys.is_empty() { Err(TokenKeysError::new("holds no keys")) } else { Ok(TokenKeys::of(keys)) }
}

fn from_jwk(key: &Value) -> Result<TokenKey, TokenKeysError> {
    let text = |name: &str| key.get(name).and_then(Value::as_str);
    let bytes = |name: &str| text(name).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let kind = match (text("kty"), text("alg"), text("crv")) {
        (Some("oct"), Some("HS256") | None, _) => {
            shared(&Zeroizing::new(bytes("k").ok_or_else(|| TokenKeysError::new("has a key without a proper `k`"))?))?
        }
        (Some("OKP"), Some("EdDSA" | "Ed25519") | None, Some("Ed25519")) => {
            let key = bytes("x").and_then(|bytes| bytes.try_into().ok());
            Kind::EdDsa(key.ok_or_else(|| TokenKeysError::new("has a key without a proper `x`"))?)
        }
        _ => return Err(TokenKeysError::new("has a key that is neither for HS256 nor for EdDSA with Ed25519")),
    };
    Ok(TokenKey { id: text("kid").map(str::to_owned), kind })
}

/// Reason why keys cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenKeysError {
    file: Option<PathBuf>,
    what: String,
}

impl TokenKeysError {
    fn new(what: &str) -> Self {
        Self { file: None, what: what.to_owned() }
    }

    fn io(file: &Path, what: &str) -> Self {
        Self { file: Some(file.to_owned()), what: format!("cannot be used: {what}") }
    }

    fn of(self, file: &Path) -> Self {
        Self { file: Some(file.to_owned()), ..self }
    }
}

impl fmt::Display for TokenKeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "the token key {} {}", file.display(), self.what),
            None => write!(f, "the token key {}", self.what),
        }
    }
}

impl std::error::Error for TokenKeysError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_all_kinds_are_read() {
        for (text, usable) in [
            ("0123456789abcdef0123456789abcdef\n", true),
            ("too short", false),
            (
                r#"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
                true,
            ),
            (
                r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#,
                true,
            ),
            (r#"{"kty":"OKP","crv":"X25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#, false),
            (
                r#"{"kty":"oct","alg":"HS512","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0i"}"#,
                false,
            ),
            (r#"{"kty":"RSA","n":"x","e":"AQAB"}"#, false),
            (r#"{"keys":[]}"#, false),
            ("{", false),
            (
                "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n",
                true,
            ),
            (
                "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n",
                false,
            ),
        ] {
            assert_eq!(TokenKeys::parse(text.as_bytes()).is_ok(), usable, "{text}");
        }
    }

    #[test]
    fn keys_are_not_shown() {
        let keys = TokenKeys::secret(b"0123456789abcdef0123456789abcdef").expect("long enough");
        assert_eq!(format!("{keys:?}"), "TokenKeys(1)");
    }
}
