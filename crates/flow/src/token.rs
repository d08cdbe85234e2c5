//! JSON Web Tokens: `header.claims.signature`, each base64url, the first two JSON.
//!
//! Only HS256 and EdDSA are supported, and the key determines which one: `none` and any algorithm other than the key's
//! are rejected. `exp` is required, `nbf` is checked if present. The clocks of issuer and server may differ by 30
//! seconds.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use crate::token_keys::TokenKeys;

/// Tolerated clock difference between issuer and server.
const SKEW_SECS: f64 = 30.0;
/// Longer tokens are rejected before decoding.
const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Reason for rejecting a token. Reveals nothing about the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not a JWT.
    Malformed,
    /// The header requests an unsupported algorithm or a critical extension.
    Unsupported,
    /// No configured key produced the signature.
    Signature,
    /// `exp` is missing.
    Endless,
    /// `exp` has passed.
    Expired,
    /// `nbf` is in the future.
    NotYet,
}

impl Refusal {
    /// Returns the reason as a sentence for the caller.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Malformed => "the token is not a JSON Web Token",
            Self::Unsupported => "the token's algorithm or critical header is not supported: use HS256 or EdDSA",
            Self::Signature => "the token's signature does not match a known key",
            Self::Endless => "the token has no `exp`",
            Self::Expired => "the token has expired",
            Self::NotYet => "the token is not valid yet",
        }
    }
}

/// Verifies a token and returns its claims.
///
/// # Errors
/// The token is malformed, was not signed with one of the keys, or is not valid at `now`.
pub fn verify(keys: &TokenKeys, token: &str, now: SystemTime) -> Result<Map<String, Value>, Refusal> {
    let (signed, seal) = token.rsplit_once('.').ok_or(Refusal::Malformed)?;
    let (head, claims) = signed.split_once('.').ok_or(Refusal::Malformed)?;
    if token.len() > TOKEN_BYTES_MAX || claims.contains('.') {
        return Err(Refusal::Malformed);
    }
    let head = object(head)?;
    let algorithm = head.get("alg").and_then(Value::as_str).ok_or(Refusal::Malformed)?;
    if !matches!(algorithm, "HS256" | "EdDSA") || head.contains_key("crit") {
        return Err(Refusal::Unsupported);
    }
    let seal = URL_SAFE_NO_PAD.decode(seal).map_err(|_| Refusal::Malformed)?;
    let id = head.get("kid").and_then(Value::as_str);
    if !keys.verify(algorithm, id, signed.as_bytes(), &seal) {
        return Err(Refusal::Signature);
    }
    let claims = object(claims)?;
    check_times(&claims, now)?;
    Ok(claims)
}

/// Returns the expiry of verified claims, including the tolerated clock difference.
#[must_use]
pub fn end(claims: &Map<String, Value>) -> Option<SystemTime> {
    let end = claims.get("exp")?.as_f64()? + SKEW_SECS;
    UNIX_EPOCH.checked_add(std::time::Duration::try_from_secs_f64(end).ok()?)
}

fn object(part: &str) -> Result<Map<String, Value>, Refusal> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| Refusal::Malformed)?;
    match serde_json::from_slice(&bytes) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(Refusal::Malformed),
    }
}

fn check_times(claims: &Map<String, Value>, now: SystemTime) -> Result<(), Refusal> {
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let end = claims.get("exp").ok_or(Refusal::Endless)?.as_f64().ok_or(Refusal::Malformed)?;
    if now >= end + SKEW_SECS {
        return Err(Refusal::Expired);
    }
    match claims.get("nbf") {
        None => Ok(()),
        Some(begin) if now + SKEW_SECS >= begin.as_f64().ok_or(Refusal::Malformed)? => Ok(()),
        Some(_) => Err(Refusal::NotYet),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use aws_lc_rs::hmac;
    use aws_lc_rs::signature::Ed25519KeyPair;

    use super::*;

    const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
    const NOW_SECS: u64 = 1_800_000_000;
    /// Key pair of RFC 8037, appendix A.
    const SEED: &str = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
    const PUBLIC: &str = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

    fn encoded(text: &[u8]) -> String {
        URL_SAFE_NO_PAD.encode(text)
    }

    fn hs256(secret: &[u8], head: &str, claims: &str) -> String {
        let signed = format!("{}.{}", encoded(head.as_bytes()), encoded(claims.as_bytes()));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
        format!("{signed}.{}", encoded(tag.as_ref()))
    }

    fn eddsa(head: &str, claims: &str) -> String {
        let seed = URL_SAFE_NO_PAD.decode(SEED).expect("base64url");
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("a seed");
        let signed = format!("{}.{}", encoded(head.as_bytes()), encoded(claims.as_bytes()));
        let seal = pair.sign(signed.as_bytes());
        format!("{signed}.{}", encoded(seal.as_ref()))
    }

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(NOW_SECS)
    }

    fn secret() -> TokenKeys {
        TokenKeys::secret(SECRET).expect("long enough")
    }

    fn public() -> TokenKeys {
        TokenKeys::parse(PUBLIC.as_bytes()).expect("a key")
    }

    fn outcome(keys: &TokenKeys, token: &str) -> Result<(), Refusal> {
        verify(keys, token, now()).map(|_| ())
    }

    const HS: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
    const ED: &str = r#"{"alg":"EdDSA"}"#;
    const GOOD: &str = r#"{"userId":"ada","exp":1800000100}"#;

    #[test]
    fn tokens_of_both_algorithms_hold() {
        let claims = verify(&secret(), &hs256(SECRET, HS, GOOD), now()).expect("a good token");
        assert_eq!(claims["userId"], "ada");
        assert_eq!(outcome(&public(), &eddsa(ED, GOOD)), Ok(()));
    }

    #[test]
    fn published_examples_verify() {
        let keys = TokenKeys::parse(
            br#"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}"#,
        )
        .expect("a key");
        let token = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        let then = UNIX_EPOCH + Duration::from_secs(1_300_819_370);
        assert!(verify(&keys, token, then).is_ok());
        assert_eq!(verify(&keys, token, now()), Err(Refusal::Expired));
        let (signed, seal) = (
            "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
        );
        let seal = URL_SAFE_NO_PAD.decode(seal).expect("base64url");
        assert!(public().verify("EdDSA", None, signed.as_bytes(), &seal));
    }

    #[test]
    fn what_the_key_does_not_sign_is_refused() {
        let none = format!("{}.{}.", encoded(br#"{"alg":"none"}"#), encoded(GOOD.as_bytes()));
        assert_eq!(outcome(&secret(), &none), Err(Refusal::Unsupported));
        assert_eq!(outcome(&secret(), &hs256(b"another secret of a proper length", HS, GOOD)), Err(Refusal::Signature));
        assert_eq!(outcome(&secret(), &hs256(SECRET, r#"{"alg":"HS512"}"#, GOOD)), Err(Refusal::Unsupported));
        assert_eq!(outcome(&secret(), &hs256(SECRET, r#"{"alg":"hs256"}"#, GOOD)), Err(Refusal::Unsupported));
        assert_eq!(
            outcome(&secret(), &hs256(SECRET, r#"{"alg":"HS256","crit":["x"]}"#, GOOD)),
            Err(Refusal::Unsupported)
        );
        assert_eq!(outcome(&secret(), &hs256(SECRET, "{}", GOOD)), Err(Refusal::Malformed));
        assert_eq!(outcome(&secret(), &eddsa(ED, GOOD)), Err(Refusal::Signature));
        // Algorithm confusion: the public key used as an HMAC secret.
        let known = URL_SAFE_NO_PAD.decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").expect("base64url");
        assert_eq!(outcome(&public(), &hs256(&known, HS, GOOD)), Err(Refusal::Signature));
        assert_eq!(outcome(&TokenKeys::default(), &hs256(SECRET, HS, GOOD)), Err(Refusal::Signature));
    }

    #[test]
    fn changed_and_broken_tokens_are_refused() {
        let token = hs256(SECRET, HS, GOOD);
        let forged = token.replace(&encoded(GOOD.as_bytes()), &encoded(GOOD.replace("ada", "eve").as_bytes()));
        assert_eq!(outcome(&secret(), &forged), Err(Refusal::Signature));
        for text in ["", ".", "..", "a.b", "a.b.c", "a.b.c.d", "no token"] {
            assert_eq!(outcome(&secret(), text), Err(Refusal::Malformed), "{text}");
        }
        assert_eq!(outcome(&secret(), &format!("{token}.x")), Err(Refusal::Malformed));
        assert_eq!(outcome(&secret(), &hs256(SECRET, HS, "[]")), Err(Refusal::Malformed));
        let long = format!(r#"{{"exp":1800000100,"x":"{}"}}"#, "x".repeat(TOKEN_BYTES_MAX));
        assert_eq!(outcome(&secret(), &hs256(SECRET, HS, &long)), Err(Refusal::Malformed));
    }

    #[test]
    fn times_are_checked() {
        for (claims, expected) in [
            (r#"{"exp":1800000001}"#, Ok(())),
            (r#"{"exp":1799999980}"#, Ok(())),
            (r#"{"exp":1799999970}"#, Err(Refusal::Expired)),
            (r#"{}"#, Err(Refusal::Endless)),
            (r#"{"exp":"1800000100"}"#, Err(Refusal::Malformed)),
            (r#"{"exp":1800000100,"nbf":1800000030}"#, Ok(())),
            (r#"{"exp":1800000100,"nbf":1800000031}"#, Err(Refusal::NotYet)),
            (r#"{"exp":1800000100,"nbf":null}"#, Err(Refusal::Malformed)),
        ] {
            assert_eq!(outcome(&secret(), &hs256(SECRET, HS, claims)), expected, "{claims}");
        }
    }

    #[test]
    fn ids_choose_among_keys() {
        let keys = TokenKeys::parse(
            br#"{"keys":[{"kty":"oct","kid":"old","k":"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"},{"kty":"OKP","kid":"new","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#,
        )
        .expect("keys");
        for (head, expected) in [
            (r#"{"alg":"HS256","kid":"old"}"#, Ok(())),
            (r#"{"alg":"HS256"}"#, Ok(())),
            (r#"{"alg":"HS256","kid":"new"}"#, Err(Refusal::Signature)),
            (r#"{"alg":"HS256","kid":"other"}"#, Err(Refusal::Signature)),
        ] {
            assert_eq!(outcome(&keys, &hs256(SECRET, head, GOOD)), expected, "{head}");
        }
        assert_eq!(outcome(&keys, &eddsa(r#"{"alg":"EdDSA","kid":"new"}"#, GOOD)), Ok(()));
    }
}
