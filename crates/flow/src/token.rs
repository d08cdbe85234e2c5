//! JSON Web Tokens: `header.claims.signature`, each base64url, the first two JSON.
//!
//! The key determines the algorithms: `none` and any algorithm that is not the key's are rejected. `exp` is required,
//! `nbf` is checked if present. The clocks of issuer and server may differ by 30 seconds.
//!
//! `jsonwebtoken` verifies signatures. The claims are checked here, because it reads the system's clock, and here the
//! clock is a setting.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Algorithm;
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
    /// `iss` is not an accepted issuer.
    Issuer,
    /// `aud` contains no accepted audience.
    Audience,
}

impl Refusal {
    /// Returns the reason as a sentence for the caller.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::Malformed => "the token is not a JSON Web Token",
            Self::Unsupported => {
                "the token's algorithm or critical header is not supported: use RS256, PS256, ES256, ES384, EdDSA or HS256"
            }
            Self::Signature => "the token's signature does not match a known key",
            Self::Endless => "the token has no `exp`",
            Self::Expired => "the token has expired",
            Self::NotYet => "the token is not valid yet",
            Self::Issuer => "the token's issuer (`iss`) is not accepted",
            Self::Audience => "the token is for another audience (`aud`)",
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
    let algorithm = supported(algorithm).filter(|_| !head.contains_key("crit")).ok_or(Refusal::Unsupported)?;
    let id = head.get("kid").and_then(Value::as_str);
    if !keys.verify(algorithm, id, signed.as_bytes(), seal) {
        return Err(Refusal::Signature);
    }
    let claims = object(claims)?;
    check_times(&claims, now)?;
    Ok(claims)
}

/// Verifies a token of an identity provider, which must be for one of the audiences, and returns its claims. A token
/// without `aud` may name the audience in `client_id`, as Cognito's access tokens do.
///
/// # Errors
/// Same as [`verify`], or the token is of another issuer or for another audience.
pub fn verify_issued(
    keys: &TokenKeys,
    issuer: &str,
    audiences: &[String],
    token: &str,
    now: SystemTime,
) -> Result<Map<String, Value>, Refusal> {
    let claims = verify(keys, token, now)?;
    if claims.get("iss").and_then(Value::as_str) != Some(issuer) {
        return Err(Refusal::Issuer);
    }
    let accepted = |given: &Value| given.as_str().is_some_and(|given| audiences.iter().any(|one| one == given));
    let is_meant = match claims.get("aud").or_else(|| claims.get("client_id")) {
        Some(Value::Array(list)) => claims.contains_key("aud") && list.iter().any(accepted),
        Some(one) => accepted(one),
        None => false,
    };
    if is_meant { Ok(claims) } else { Err(Refusal::Audience) }
}

/// Claims of a token that decide which keys verify it. Nothing is verified yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unverified {
    /// `iss`
    pub issuer: Option<String>,
    /// `kid` of the header.
    pub key_id: Option<String>,
}

/// Reads the issuer and the key id of a token without verifying it; both are absent if it is not a token.
#[must_use]
pub fn peek(token: &str) -> Unverified {
    let mut parts = token.split('.');
    let (Some(head), Some(claims)) = (parts.next(), parts.next()) else { return Unverified::default() };
    if token.len() > TOKEN_BYTES_MAX {
        return Unverified::default();
    }
    let text = |part: &str, name: &str| object(part).ok()?.get(name)?.as_str().map(str::to_owned);
    Unverified { issuer: text(claims, "iss"), key_id: text(head, "kid") }
}

/// Returns the algorithm with this name, if keys for it can be configured.
fn supported(name: &str) -> Option<Algorithm> {
    match name {
        "HS256" => Some(Algorithm::HS256),
        "RS256" => Some(Algorithm::RS256),
        "RS384" => Some(Algorithm::RS384),
        "RS512" => Some(Algorithm::RS512),
        "PS256" => Some(Algorithm::PS256),
        "PS384" => Some(Algorithm::PS384),
        "PS512" => Some(Algorithm::PS512),
        "ES256" => Some(Algorithm::ES256),
        "ES384" => Some(Algorithm::ES384),
        "EdDSA" => Some(Algorithm::EdDSA),
        _ => None,
    }
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

    use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
    use aws_lc_rs::hmac;
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::rsa::KeySize;
    use aws_lc_rs::signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
        Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256,
        RSA_PSS_SHA384, RSA_PSS_SHA512, RsaEncoding, RsaKeyPair,
    };
    use base64::engine::general_purpose::STANDARD;

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
        assert!(public().verify(Algorithm::EdDSA, None, signed.as_bytes(), seal));
        let keys = TokenKeys::parse(
            br#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
        )
        .expect("a key");
        let token = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
        assert!(verify(&keys, token, then).is_ok());
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
        assert_eq!(outcome(&TokenKeys::default(), &hs256(SECRET, HS, GOOD)), Err(Refusal::Signature));
    }

    type Sign = dyn Fn(&[u8]) -> Vec<u8>;

    /// Issuer with a key pair: the public key in its encodings, and a function that signs.
    struct Issuer {
        algorithm: &'static str,
        jwk: String,
        pem: String,
        /// All bytes that an attacker could take for an HMAC secret.
        known: Vec<Vec<u8>>,
        sign: Box<Sign>,
    }

    impl Issuer {
        fn token(&self, algorithm: &str, claims: &str) -> String {
            let head = format!(r#"{{"alg":"{algorithm}"}}"#);
            let signed = format!("{}.{}", encoded(head.as_bytes()), encoded(claims.as_bytes()));
            format!("{signed}.{}", encoded(&(self.sign)(signed.as_bytes())))
        }

        fn key_files(&self) -> [TokenKeys; 2] {
            [&self.jwk, &self.pem].map(|text| TokenKeys::parse(text.as_bytes()).expect("a key"))
        }
    }

    fn pem(der: &[u8]) -> String {
        format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(der))
    }

    fn rs256() -> Issuer {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key pair");
        let der: PublicKeyX509Der<'_> = pair.public_key().as_der().expect("a public key");
        let (n, e) = (pair.public_key().modulus(), pair.public_key().exponent());
        let (n, e) = (n.big_endian_without_leading_zero(), e.big_endian_without_leading_zero());
        Issuer {
            algorithm: "RS256",
            jwk: format!(r#"{{"kty":"RSA","use":"sig","alg":"RS256","n":"{}","e":"{}"}}"#, encoded(n), encoded(e)),
            pem: pem(der.as_ref()),
            known: vec![der.as_ref().to_vec(), pair.public_key().as_ref().to_vec(), n.to_vec()],
            sign: Box::new(move |message| {
                let mut seal = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut seal).expect("a signature");
                seal
            }),
        }
    }

    fn es256() -> Issuer {
        ecdsa("ES256", "P-256", &ECDSA_P256_SHA256_FIXED_SIGNING)
    }

    fn es384() -> Issuer {
        ecdsa("ES384", "P-384", &ECDSA_P384_SHA384_FIXED_SIGNING)
    }

    fn ecdsa(algorithm: &'static str, curve: &str, signing: &'static EcdsaSigningAlgorithm) -> Issuer {
        let pair = EcdsaKeyPair::generate(signing).expect("a key pair");
        let der: PublicKeyX509Der<'_> = pair.public_key().as_der().expect("a public key");
        let point = pair.public_key().as_ref().to_vec();
        let (x, y) = point[1..].split_at(point.len() / 2);
        let (x, y) = (encoded(x), encoded(y));
        Issuer {
            algorithm,
            jwk: format!(r#"{{"kty":"EC","crv":"{curve}","x":"{x}","y":"{y}"}}"#),
            pem: pem(der.as_ref()),
            known: vec![der.as_ref().to_vec(), point],
            sign: Box::new(move |message| {
                pair.sign(&SystemRandom::new(), message).expect("a signature").as_ref().to_vec()
            }),
        }
    }

    fn ed25519() -> Issuer {
        let pair = Ed25519KeyPair::generate().expect("a key pair");
        let der: PublicKeyX509Der<'_> = pair.public_key().as_der().expect("a public key");
        let raw = pair.public_key().as_ref().to_vec();
        Issuer {
            algorithm: "EdDSA",
            jwk: format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{}"}}"#, encoded(&raw)),
            pem: pem(der.as_ref()),
            known: vec![der.as_ref().to_vec(), raw],
            sign: Box::new(move |message| pair.sign(message).as_ref().to_vec()),
        }
    }

    #[test]
    fn public_keys_verify_only_tokens_of_their_own_algorithm() {
        let issuers = [rs256(), es256(), es384(), ed25519()];
        for issuer in &issuers {
            for keys in issuer.key_files() {
                assert!(!keys.can_issue());
                for algorithm in ["HS256", "RS256", "RS512", "PS256", "ES256", "ES384", "EdDSA"] {
                    let expected = if algorithm == issuer.algorithm { Ok(()) } else { Err(Refusal::Signature) };
                    assert_eq!(outcome(&keys, &issuer.token(algorithm, GOOD)), expected, "{algorithm}");
                }
                for other in issuers.iter().filter(|other| other.algorithm != issuer.algorithm) {
                    for algorithm in [issuer.algorithm, other.algorithm] {
                        assert_eq!(outcome(&keys, &other.token(algorithm, GOOD)), Err(Refusal::Signature));
                    }
                }
                for algorithm in ["none", "HS512", "ES512", "Ed25519", "ES256K"] {
                    assert_eq!(outcome(&keys, &issuer.token(algorithm, GOOD)), Err(Refusal::Unsupported));
                }
                let token = issuer.token(issuer.algorithm, GOOD);
                let forged = token.replace(&encoded(GOOD.as_bytes()), &encoded(GOOD.replace("ada", "eve").as_bytes()));
                assert_eq!(outcome(&keys, &forged), Err(Refusal::Signature));
                let (signed, _) = token.rsplit_once('.').expect("three parts");
                assert_eq!(outcome(&keys, &format!("{signed}.")), Err(Refusal::Signature), "no signature");
            }
        }
    }

    /// A key without `alg` accepts the six RSA algorithms, a key with `alg` only that one.
    #[test]
    fn rsa_keys_accept_all_their_algorithms_unless_they_name_one() {
        let pair = RsaKeyPair::generate(KeySize::Rsa2048).expect("a key pair");
        let (n, e) = (pair.public_key().modulus(), pair.public_key().exponent());
        let (n, e) = (encoded(n.big_endian_without_leading_zero()), encoded(e.big_endian_without_leading_zero()));
        let jwk = |alg: &str| TokenKeys::parse(format!(r#"{{"kty":"RSA","n":"{n}","e":"{e}"{alg}}}"#).as_bytes());
        let (open, limited) = (jwk("").expect("a key"), jwk(r#","alg":"PS384""#).expect("a key"));
        let algorithms: [(&str, &'static dyn RsaEncoding); 6] = [
            ("RS256", &RSA_PKCS1_SHA256),
            ("RS384", &RSA_PKCS1_SHA384),
            ("RS512", &RSA_PKCS1_SHA512),
            ("PS256", &RSA_PSS_SHA256),
            ("PS384", &RSA_PSS_SHA384),
            ("PS512", &RSA_PSS_SHA512),
        ];
        for (name, encoding) in algorithms {
            let head = encoded(format!(r#"{{"alg":"{name}"}}"#).as_bytes());
            let signed = format!("{head}.{}", encoded(GOOD.as_bytes()));
            let mut seal = vec![0; pair.public_modulus_len()];
            pair.sign(encoding, &SystemRandom::new(), signed.as_bytes(), &mut seal).expect("a signature");
            let token = format!("{signed}.{}", encoded(&seal));
            assert_eq!(outcome(&open, &token), Ok(()), "{name}");
            let expected = if name == "PS384" { Ok(()) } else { Err(Refusal::Signature) };
            assert_eq!(outcome(&limited, &token), expected, "{name}");
        }
        assert!(jwk(r#","alg":"HS256""#).is_err());
    }

    /// Algorithm confusion: a verifier that lets the token choose would take the public key, which everyone knows, for
    /// an HMAC secret.
    #[test]
    fn a_public_key_is_no_secret() {
        for issuer in [rs256(), es256(), es384(), ed25519()] {
            let texts = [issuer.pem.as_bytes(), issuer.pem.trim_end().as_bytes(), issuer.jwk.as_bytes()];
            for keys in issuer.key_files() {
                for secret in issuer.known.iter().map(Vec::as_slice).chain(texts) {
                    assert_eq!(outcome(&keys, &hs256(secret, HS, GOOD)), Err(Refusal::Signature));
                }
            }
        }
    }

    /// A signature of the right form for another algorithm is not accepted by a secret either.
    #[test]
    fn a_secret_verifies_no_public_key_algorithm() {
        for algorithm in ["RS256", "ES256", "EdDSA"] {
            let token = hs256(SECRET, &format!(r#"{{"alg":"{algorithm}"}}"#), GOOD);
            assert_eq!(outcome(&secret(), &token), Err(Refusal::Signature), "{algorithm}");
        }
    }

    #[test]
    fn an_ecdsa_signature_of_zeros_is_refused() {
        let issuer = es256();
        let token = issuer.token("ES256", GOOD);
        let (signed, _) = token.rsplit_once('.').expect("three parts");
        for keys in issuer.key_files() {
            assert_eq!(outcome(&keys, &format!("{signed}.{}", encoded(&[0; 64]))), Err(Refusal::Signature));
        }
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
    fn issuer_and_audience_are_checked() {
        let audiences = ["api".to_owned(), "web".to_owned()];
        for (claims, expected) in [
            (r#""iss":"https://a","aud":"api""#, Ok(())),
            (r#""iss":"https://a","aud":["other","web"]"#, Ok(())),
            (r#""iss":"https://a","client_id":"api""#, Ok(())),
            (r#""iss":"https://a","client_id":["api"]"#, Err(Refusal::Audience)),
            (r#""iss":"https://a","aud":"other","client_id":"api""#, Err(Refusal::Audience)),
            (r#""iss":"https://a","aud":[],"client_id":"api""#, Err(Refusal::Audience)),
            (r#""iss":"https://a","aud":null,"client_id":"api""#, Err(Refusal::Audience)),
            (r#""iss":"https://a""#, Err(Refusal::Audience)),
            (r#""iss":"https://a/","aud":"api""#, Err(Refusal::Issuer)),
            (r#""iss":["https://a"],"aud":"api""#, Err(Refusal::Issuer)),
            (r#""aud":"api""#, Err(Refusal::Issuer)),
        ] {
            let token = hs256(SECRET, HS, &format!(r#"{{"exp":1800000100,{claims}}}"#));
            let found = verify_issued(&secret(), "https://a", &audiences, &token, now()).map(|_| ());
            assert_eq!(found, expected, "{claims}");
        }
    }

    #[test]
    fn issuer_and_key_are_read_before_the_signature() {
        let token = hs256(SECRET, r#"{"alg":"HS256","kid":"k"}"#, r#"{"iss":"https://a"}"#);
        let expected = Unverified { issuer: Some("https://a".to_owned()), key_id: Some("k".to_owned()) };
        assert_eq!(peek(&token), expected);
        for text in ["", ".", "a.b.c", "no token"] {
            assert_eq!(peek(text), Unverified::default(), "{text}");
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
