//! JSON Web Keys and their sets (RFC 7517).
//!
//! 1. `kty` and `crv` determine the kind of a key and with it the algorithms: `oct` HS256; `RSA` RS256, RS384, RS512,
//!    PS256, PS384 and PS512; `EC` with `P-256` ES256, with `P-384` ES384; `OKP` with `Ed25519` EdDSA.
//! 2. `alg` limits a key to one of them.
//! 3. A key with another `use` than `sig`, or with `key_ops` without `verify`, is not used. A secret signs only if its
//!    `key_ops`, if any, contain `sign`.
//! 4. A set may contain keys of other kinds: they are skipped with a warning. A file with a single key must be usable.

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize as _;
use serde_json::Value;

use crate::token_key::{KeyKind, TokenKey};
use crate::token_keys::TokenKeysError;

/// Keys of a set that are used. A token without `kid` is verified with each of them, so the number limits its cost.
const KEYS_MAX: usize = 64;

/// Parses a key or a key set.
pub(crate) fn parse(text: &[u8]) -> Result<Vec<TokenKey>, TokenKeysError> {
    let value = json(text)?;
    match value.get("keys").and_then(Value::as_array) {
        Some(keys) => usable(keys, |_| false),
        None => Ok(vec![key(&value)?]),
    }
}

/// Parses a key set that everyone can read: its secrets are skipped.
pub(crate) fn parse_published(text: &[u8]) -> Result<Vec<TokenKey>, TokenKeysError> {
    let value = json(text)?;
    let keys = value.get("keys").and_then(Value::as_array);
    usable(keys.ok_or_else(|| TokenKeysError::new("set has no member `keys`"))?, |key| key["kty"] == "oct")
}

fn json(text: &[u8]) -> Result<Value, TokenKeysError> {
    serde_json::from_slice(text).map_err(|error| TokenKeysError::new(&format!("is not valid JSON: {error}")))
}

/// Returns the usable keys of a set.
fn usable(set: &[Value], is_excluded: impl Fn(&Value) -> bool) -> Result<Vec<TokenKey>, TokenKeysError> {
    let mut keys = Vec::new();
    // Encryption keys are a regular part of a provider's set and need no warning.
    for value in set.iter().filter(|key| key["use"] != "enc") {
        let parsed = match is_excluded(value) {
            true => Err(TokenKeysError::new("is a published secret")),
            false => key(value),
        };
        match parsed {
            Ok(key) => keys.push(key),
            Err(error) => tracing::warn!(kid = value["kid"].as_str(), "skipped a key of a key set: {error}"),
        }
    }
    if keys.len() > KEYS_MAX {
        return Err(TokenKeysError::new(&format!("set has more than {KEYS_MAX} keys")));
    }
    if keys.is_empty() { Err(TokenKeysError::new("set contains no usable keys")) } else { Ok(keys) }
}

fn key(value: &Value) -> Result<TokenKey, TokenKeysError> {
    check_use(value)?;
    let jwk = Jwk::deserialize(value).map_err(|_| unsupported())?;
    let kind = kind(&jwk)?;
    let only = value.get("alg").map(|name| named(kind, name)).transpose()?;
    let verifier = DecodingKey::from_jwk(&jwk).map_err(|_| TokenKeysError::new("is not base64url"))?;
    let key = match kind {
        KeyKind::Secret => TokenKey::secret(verifier.as_bytes())?,
        KeyKind::Rsa | KeyKind::P256 | KeyKind::P384 | KeyKind::Ed25519 => TokenKey::public(kind, verifier)
            .ok_or_else(|| TokenKeysError::new("is not a valid public key; RSA keys have 2048 to 8192 bits"))?,
    };
    let key = if permits(value, "sign") { key } else { key.without_signer() };
    Ok(key.named(jwk.common.key_id).limited_to(only))
}

fn unsupported() -> TokenKeysError {
    TokenKeysError::new("has another type than a secret, RSA, P-256, P-384 or Ed25519")
}

fn kind(jwk: &Jwk) -> Result<KeyKind, TokenKeysError> {
    match &jwk.algorithm {
        AlgorithmParameters::OctetKey(_) => Ok(KeyKind::Secret),
        AlgorithmParameters::RSA(_) => Ok(KeyKind::Rsa),
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => Ok(KeyKind::P256),
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => Ok(KeyKind::P384),
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => Ok(KeyKind::Ed25519),
        AlgorithmParameters::EllipticCurve(_) | AlgorithmParameters::OctetKeyPair(_) => Err(unsupported()),
    }
}

/// Returns the algorithm that `alg` names, if keys of this kind have it.
fn named(kind: KeyKind, name: &Value) -> Result<Algorithm, TokenKeysError> {
    // RFC 9864 names EdDSA with Ed25519 after its curve.
    let name = name.as_str().map(|name| if name == "Ed25519" { "EdDSA" } else { name });
    let found = kind.algorithms().iter().find(|algorithm| name == Some(&format!("{algorithm:?}")));
    found.copied().ok_or_else(|| TokenKeysError::new("names an algorithm in `alg` that is not supported for its type"))
}

fn check_use(value: &Value) -> Result<(), TokenKeysError> {
    if value.get("use").is_some_and(|given| given != "sig") {
        return Err(TokenKeysError::new("is not for signatures: its `use` is not `sig`"));
    }
    if permits(value, "verify") {
        return Ok(());
    }
    Err(TokenKeysError::new("is not for verifying: its `key_ops` do not contain `verify`"))
}

/// Returns whether `key_ops` are absent or contain an operation.
fn permits(value: &Value, operation: &str) -> bool {
    value
        .get("key_ops")
        .is_none_or(|given| given.as_array().is_some_and(|given| given.iter().any(|one| one == operation)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: &str = r#""crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo""#;
    const K: &str =
        r#""kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow""#;

    fn ids(parsed: Result<Vec<TokenKey>, TokenKeysError>) -> Vec<Option<String>> {
        parsed.expect("a set").iter().map(|key| key.id().map(str::to_owned)).collect()
    }

    #[test]
    fn unusable_keys_of_a_set_are_skipped() {
        let short = "A".repeat(171);
        let set = format!(
            r#"{{"keys":[
                {{"kty":"OKP",{X},"kid":"good"}},
                {{"kty":"OKP",{X}}},
                {{"kty":"OKP",{X},"kid":"encrypts","use":"enc"}},
                {{"kty":"OKP",{X},"kid":"other use","use":"tls"}},
                {{"kty":"OKP",{X},"kid":"signs","key_ops":["sign"]}},
                {{"kty":"OKP",{X},"kid":"verifies","key_ops":["verify"],"use":"sig"}},
                {{"kty":"OKP",{X},"kid":"other algorithm","alg":"ES256"}},
                {{"kty":"OKP",{X},"kid":"curve as algorithm","alg":"Ed25519"}},
                {{"kty":"AKP","alg":"ML-DSA-44","pub":"x","kid":"other type"}},
                {{"kty":"RSA","n":"{short}","e":"AQAB","kid":"1024 bits"}},
                {{"kty":"EC","crv":"P-521","x":"AA","y":"AA","kid":"other curve"}},
                {{"kid":"nothing"}}, 7
            ]}}"#
        );
        let names = ["good", "verifies", "curve as algorithm"].map(|name| Some(name.to_owned()));
        let [good, verifies, curve] = names;
        assert_eq!(ids(parse(set.as_bytes())), [good, None, verifies, curve]);
    }

    #[test]
    fn published_secrets_are_not_used() {
        let set = format!(r#"{{"keys":[{{{K},"kid":"secret"}},{{"kty":"OKP",{X},"kid":"public"}}]}}"#);
        assert_eq!(ids(parse_published(set.as_bytes())), [Some("public".to_owned())]);
        assert_eq!(ids(parse(set.as_bytes())).len(), 2);
        assert!(parse_published(format!(r#"{{"keys":[{{{K}}}]}}"#).as_bytes()).is_err());
        assert!(parse_published(format!("{{{K}}}").as_bytes()).is_err());
    }

    #[test]
    fn a_secret_signs_unless_its_operations_forbid_it() {
        for (operations, signs) in
            [("", true), (r#","key_ops":["sign","verify"]"#, true), (r#","key_ops":["verify"]"#, false)]
        {
            let keys = parse(format!("{{{K}{operations}}}").as_bytes()).expect("a key");
            assert_eq!(keys[0].signer().is_some(), signs, "{operations}");
        }
        assert!(parse(format!(r#"{{{K},"key_ops":["encrypt"]}}"#).as_bytes()).is_err());
    }

    #[test]
    fn a_set_is_bounded() {
        let key = format!(r#"{{"kty":"OKP",{X}}}"#);
        let set = |count: usize| format!(r#"{{"keys":[{}]}}"#, vec![key.as_str(); count].join(","));
        assert!(parse(set(KEYS_MAX).as_bytes()).is_ok());
        assert!(parse(set(KEYS_MAX + 1).as_bytes()).is_err());
    }
}
