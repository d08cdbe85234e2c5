//! Keys for verifying bearer tokens, and their file formats.
//!
//! A key file contains one of these:
//! - a JSON Web Key or a key set (`{"keys": […]}`): `kty` `oct` for HS256, `RSA` for RS256, `EC` with `crv` `P-256` for
//!   ES256, `OKP` with `crv` `Ed25519` for EdDSA; `kid` if there are several. Keys with `use` `enc` are ignored. An OpenID
//!   provider publishes such a set at its `jwks_uri`;
//! - an RSA, P-256 or Ed25519 public key in PEM (`-----BEGIN PUBLIC KEY-----`);
//! - otherwise a secret of at least 32 bytes for HS256; surrounding white space is ignored.
//!
//! Each key is bound to one algorithm, so that a token cannot select another. A file with a secret must not be readable
//! by other users.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::rsa::PublicEncryptingKey;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED, ED25519, ParsedPublicKey, RsaPublicKeyComponents};
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey, Header};
use keyform_core::World as _;
use keyform_world::{SystemWorld, exposed_mode};
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_pki_types::pem::PemObject as _;
use serde::Deserialize as _;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

/// RFC 7518 requires HS256 keys of at least the hash size, because a shorter secret is easier to guess than the hash.
const SECRET_BYTES_MIN: usize = 32;
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
    algorithm: Algorithm,
    verifier: DecodingKey,
    /// Present if the key is a secret.
    signer: Option<EncodingKey>,
}

impl TokenKey {
    fn secret(secret: &[u8]) -> Result<Self, TokenKeysError> {
        if secret.len() < SECRET_BYTES_MIN {
            return Err(TokenKeysError::new("is too short for HS256: a secret has at least 32 bytes"));
        }
        Ok(Self {
            id: None,
            algorithm: Algorithm::HS256,
            verifier: DecodingKey::from_secret(secret),
            signer: Some(EncodingKey::from_secret(secret)),
        })
    }

    /// Returns `None` if the bytes are not a valid key for the algorithm.
    fn public(algorithm: Algorithm, verifier: DecodingKey) -> Option<Self> {
        is_valid(algorithm, verifier.kind()).then_some(Self { id: None, algorithm, verifier, signer: None })
    }
}

/// Returns whether the library can parse a public key. It parses the key again with each token, so an invalid one would
/// otherwise reject every token.
fn is_valid(algorithm: Algorithm, key: &DecodingKeyKind) -> bool {
    match (algorithm, key) {
        (Algorithm::RS256, DecodingKeyKind::SecretOrDer(der)) => PublicEncryptingKey::from_der(der).is_ok(),
        (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
            TryInto::<PublicEncryptingKey>::try_into(RsaPublicKeyComponents { n, e }).is_ok()
        }
        (Algorithm::ES256, DecodingKeyKind::SecretOrDer(key)) => {
            ParsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key).is_ok()
        }
        (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(key)) => ParsedPublicKey::new(&ED25519, key).is_ok(),
        _ => false,
    }
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
        let (id, signer) = self.keys.iter().find_map(|key| Some((&key.id, key.signer.as_ref()?)))?;
        let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut claims = claims;
        claims.insert("iat".to_owned(), seconds.into());
        claims.insert("exp".to_owned(), (seconds + lifetime.as_secs()).into());
        let header = Header { kid: id.clone(), ..Header::new(Algorithm::HS256) };
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
            return from_json(text);
        }
        if text.starts_with(b"-----BEGIN") {
            let reason = "is not a public key in PEM format for RS256 (RSA of 2048 to 8192 bits), ES256 (P-256) or EdDSA (Ed25519)";
            return Ok(Self::of(vec![from_pem(text).ok_or_else(|| TokenKeysError::new(reason))?]));
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
        self.keys.iter().any(|key| key.signer.is_some())
    }

    /// Returns whether a key with this algorithm and id produced the signature, which is base64url.
    pub(crate) fn verify(&self, algorithm: Algorithm, id: Option<&str>, message: &[u8], seal: &str) -> bool {
        let named = |key: &&TokenKey| id.is_none() || key.id.is_none() || key.id.as_deref() == id;
        // The key decides, not the token: a public key is never used as a secret.
        let mut keys = self.keys.iter().filter(named).filter(|key| key.algorithm == algorithm);
        // An error means that the signature is not base64url, because the keys are valid.
        keys.any(|key| jsonwebtoken::crypto::verify(seal, message, &key.verifier, algorithm).unwrap_or(false))
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

/// Parses a `SubjectPublicKeyInfo`. It names the kind of the key, so at most one algorithm accepts it.
fn from_pem(text: &[u8]) -> Option<TokenKey> {
    let der = SubjectPublicKeyInfoDer::from_pem_slice(text).ok()?;
    TokenKey::public(Algorithm::EdDSA, DecodingKey::from_ed_der(&der))
        .or_else(|| TokenKey::public(Algorithm::ES256, DecodingKey::from_ec_der(&der)))
        .or_else(|| TokenKey::public(Algorithm::RS256, DecodingKey::from_rsa_der(&der)))
}

fn from_json(text: &[u8]) -> Result<TokenKeys, TokenKeysError> {
    let value: Value =
        serde_json::from_slice(text).map_err(|error| TokenKeysError::new(&format!("is not valid JSON: {error}")))?;
    let keys = match value.get("keys").and_then(Value::as_array) {
        Some(keys) => keys.iter().filter(|key| key["use"] != "enc").map(from_jwk).collect::<Result<Vec<_>, _>>()?,
        None => vec![from_jwk(&value)?],
    };
    if keys.is_empty() { Err(TokenKeysError::new("contains no keys")) } else { Ok(TokenKeys::of(keys)) }
}

fn from_jwk(value: &Value) -> Result<TokenKey, TokenKeysError> {
    let unsupported =
        || TokenKeysError::new("has a key that is for none of HS256, RS256, ES256 and EdDSA with Ed25519");
    let jwk = Jwk::deserialize(value).map_err(|_| unsupported())?;
    let verifier = DecodingKey::from_jwk(&jwk).map_err(|_| TokenKeysError::new("has a key that is not base64url"))?;
    let algorithm = match (&jwk.algorithm, value.get("alg").and_then(Value::as_str)) {
        (AlgorithmParameters::OctetKey(_), Some("HS256") | None) => Algorithm::HS256,
        (AlgorithmParameters::RSA(_), Some("RS256") | None) => Algorithm::RS256,
        (AlgorithmParameters::EllipticCurve(key), Some("ES256") | None) if key.curve == EllipticCurve::P256 => {
            Algorithm::ES256
        }
        (AlgorithmParameters::OctetKeyPair(key), Some("EdDSA" | "Ed25519") | None)
            if key.curve == EllipticCurve::Ed25519 =>
        {
            Algorithm::EdDSA
        }
        _ => return Err(unsupported()),
    };
    let key = match algorithm {
        Algorithm::HS256 => TokenKey::secret(verifier.as_bytes())?,
        _ => TokenKey::public(algorithm, verifier)
            .ok_or_else(|| TokenKeysError::new(&format!("has a key that is not valid for {algorithm:?}")))?,
    };
    Ok(TokenKey { id: jwk.common.key_id, ..key })
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
