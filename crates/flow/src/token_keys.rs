//! Keys for verifying bearer tokens, and their file formats.
//!
//! A key file contains one of these:
//! - a JSON Web Key or a key set (`{"keys": […]}`), see `jwk`. An OpenID provider publishes such a set at its
//!   `jwks_uri`;
//! - an RSA, P-256, P-384 or Ed25519 public key in PEM (`-----BEGIN PUBLIC KEY-----`);
//! - otherwise a secret of at least 32 bytes for HS256; surrounding white space is ignored.
//!
//! Each key is bound to the algorithms of its kind, so that a token cannot select another. A file with a secret must not
//! be readable by other users.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonwebtoken::{Algorithm, Header};
use keyform_core::World as _;
use keyform_world::{SystemWorld, exposed_mode};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::jwk;
use crate::token_key::{SECRET_BYTES_MIN, TokenKey};

/// Keys for verifying bearer tokens, and for issuing them if one is a secret.
#[derive(Clone, Default)]
pub struct TokenKeys {
    keys: Vec<TokenKey>,
    /// Set for a generated development key that was not configured.
    made_up: bool,
}

impl TokenKeys {
    /// Creates a single HS256 key.
    ///
    /// # Errors
    /// The secret is shorter than 32 bytes.
    pub fn secret(secret: &[u8]) -> Result<Self, TokenKeysError> {
        Ok(Self::of(vec![TokenKey::secret(secret)?]))
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
        let key = TokenKey::secret(secret.as_ref()).expect("the secret is long enough");
        Self { keys: vec![key], made_up: true }
    }

    /// Issues a token with these claims that expires after `lifetime`, signed with the first secret. Returns `None` if
    /// there are only public keys.
    #[must_use]
    pub fn issue(&self, claims: Map<String, Value>, lifetime: Duration, now: SystemTime) -> Option<String> {
        let (id, signer) = self.keys.iter().find_map(|key| Some((key.id(), key.signer()?)))?;
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut claims = claims;
        claims.insert("iat".to_owned(), seconds.into());
        claims.insert("exp".to_owned(), (seconds + lifetime.as_secs()).into());
        let header = Header { kid: id.map(str::to_owned), ..Header::new(Algorithm::HS256) };
        Some(jsonwebtoken::encode(&header, &claims, signer).expect("JSON objects can be written and signed"))
    }

    /// Loads a key file.
    ///
    /// # Errors
    /// The file cannot be read, contains no usable key, or contains a secret that other users can read.
    pub fn load(file: &Path) -> Result<Self, TokenKeysError> {
        let text = fs::read(file).map_err(|error| TokenKeysError::io(file, &error.to_string()))?;
        let keys = Self::parse(&Zeroizing::new(text)).map_err(|error| error.of(file))?;
        if keys.can_issue() {
            refuse_exposed(file)?;
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
            return jwk::parse(text).map(Self::of);
        }
        if text.starts_with(b"-----BEGIN") {
            let reason = "is not a public key in PEM format: RSA of 2048 to 8192 bits, P-256, P-384 or Ed25519";
            return Ok(Self::of(vec![TokenKey::from_pem(text).ok_or_else(|| TokenKeysError::new(reason))?]));
        }
        Self::secret(text)
    }

    /// Parses the key set that an OpenID provider publishes. Secrets in it are skipped, because everyone can read them.
    ///
    /// # Errors
    /// The text is not a key set with a usable public key.
    pub fn published(text: &[u8]) -> Result<Self, TokenKeysError> {
        jwk::parse_published(text).map(Self::of)
    }

    /// Returns whether no key was configured. A key from [`TokenKeys::made_up`] does not count.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() || self.made_up
    }

    /// Returns whether there is a secret to sign tokens with.
    #[must_use]
    pub fn can_issue(&self) -> bool {
        self.keys.iter().any(|key| key.signer().is_some())
    }

    /// Returns whether a key with this id is present, or a key without an id, which may verify any token.
    #[must_use]
    pub fn may_verify(&self, id: Option<&str>) -> bool {
        self.keys.iter().any(|key| key.answers_to(id))
    }

    /// Returns whether a key that accepts this algorithm and id produced the signature, which is base64url.
    pub(crate) fn verify(&self, algorithm: Algorithm, id: Option<&str>, message: &[u8], seal: &str) -> bool {
        let mut keys = self.keys.iter().filter(|key| key.answers_to(id));
        keys.any(|key| key.verify(algorithm, message, seal))
    }
}

impl fmt::Debug for TokenKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TokenKeys({})", self.keys.len())
    }
}

fn refuse_exposed(file: &Path) -> Result<(), TokenKeysError> {
    let mode = exposed_mode(file).map_err(|error| TokenKeysError::io(file, &error.to_string()))?;
    mode.map_or(Ok(()), |mode| {
        let shown = file.display();
        let what = format!("{shown} can be read by others (mode {mode:04o}): run chmod 600 {shown}");
        Err(TokenKeysError::io(file, &what))
    })
}

/// Reason why keys cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenKeysError {
    file: Option<PathBuf>,
    what: String,
}

impl TokenKeysError {
    pub(crate) fn new(what: &str) -> Self {
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
