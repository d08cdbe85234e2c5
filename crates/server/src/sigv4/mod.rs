//! AWS Signature Version 4: proves that the sender of a request knows the secret of an access key.
//!
//! 1. [`authorization`] parses the signature from the header or the query.
//! 2. [`date`] parses its time; a signature is valid for five minutes, or as long as its query states.
//! 3. [`canonical`] builds the canonical request that the client signed.
//! 4. [`Verifier::verify`] signs it with the known secret and compares in constant time.
//!
//! This module is independent of operations: it does not modify or interpret the body.

mod authorization;
mod canonical;
mod date;
mod signing_key;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::constant_time;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use keyform_core::error::access::{self, ScopeFault};
use keyform_core::{Error, World};
use zeroize::Zeroizing;

use crate::credentials::Credentials;
use authorization::Authorization;
use canonical::decode_query;
use date::Moment;
use signing_key::SigningKeys;

const SKEW: Duration = Duration::from_secs(300);
const SERVICE: &str = "dynamodb";
const TERMINATOR: &str = "aws4_request";

/// Verifies signatures for one region with known credentials.
pub(crate) struct Verifier {
    credentials: Credentials,
    region: String,
    world: Arc<dyn World>,
    keys: SigningKeys,
}

impl Verifier {
    pub(crate) fn new(credentials: Credentials, region: String, world: Arc<dyn World>) -> Self {
        Self { credentials, region, world, keys: SigningKeys::default() }
    }

    /// Verifies the signature over the request's head and its body as sent.
    ///
    /// # Errors
    /// The service's errors for missing, incomplete, expired and wrong signatures.
    pub(crate) fn verify(&self, head: &Parts, body: &[u8]) -> Result<(), Error> {
        let (authorization, secret) = self.recognize(head)?;
        let text = canonical::string_to_sign(&authorization, head, body);
        let key = self.keys.derive(authorization.access_key, secret, authorization.day, authorization.region);
        let expected = signing_key::hex(signing_key::sign(&key, text.as_bytes()).as_ref());
        constant_time::verify_slices_are_equal(expected.as_bytes(), authorization.signature.as_bytes())
            .map_err(|_| access::signature_mismatch())
    }

    /// Checks everything about a signature that needs no body, so that strangers cannot make the server read large ones.
    pub(crate) fn check_head(&self, head: &Parts) -> Result<(), Error> {
        self.recognize(head).map(drop)
    }

    fn recognize<'a>(&'a self, head: &'a Parts) -> Result<(Authorization<'a>, &'a str), Error> {
        let authorization = Authorization::read(head)?;
        self.check_scope(&authorization)?;
        check_signed_headers(&authorization, head)?;
        let secret = self.credentials.secret(authorization.access_key).ok_or_else(access::unrecognized_client)?;
        self.check_age(&authorization)?;
        Ok((authorization, secret))
    }

    /// Returns whether HTTP Basic carries an access key and its secret.
    pub(crate) fn admits_basic(&self, headers: &HeaderMap) -> bool {
        basic(headers).is_some_and(|given| {
            let (id, secret) = given.split_once(':').unwrap_or((&given, ""));
            let known = self.credentials.secret(id);
            known.is_some_and(|known| {
                constant_time::verify_slices_are_equal(known.as_bytes(), secret.as_bytes()).is_ok()
            })
        })
    }

    fn check_scope(&self, authorization: &Authorization<'_>) -> Result<(), Error> {
        let mut faults = Vec::new();
        if authorization.region != self.region {
            faults.push(ScopeFault::Region(authorization.region));
        }
        if authorization.service != SERVICE {
            faults.push(ScopeFault::Service);
        }
        if authorization.terminator != TERMINATOR {
            faults.push(ScopeFault::Terminator(authorization.terminator));
        }
        if !authorization.date.starts_with(authorization.day) {
            faults.push(ScopeFault::Date(authorization.day, &authorization.date));
        }
        if faults.is_empty() { Ok(()) } else { Err(access::wrong_scope(&faults)) }
    }

    fn check_age(&self, authorization: &Authorization<'_>) -> Result<(), Error> {
        let date = &authorization.date;
        let signed = Moment::parse(date).ok_or_else(|| access::malformed_date(date))?;
        let now = Moment::from(self.world.system_time());
        let lifetime = authorization.lifetime.unwrap_or(SKEW);
        let earliest = now.minus(lifetime);
        let latest = now.plus(SKEW);
        if signed < earliest {
            let minutes = lifetime.as_secs() / 60;
            return Err(access::signature_expired(date, &earliest.to_string(), &now.to_string(), minutes));
        }
        if signed > latest {
            let minutes = SKEW.as_secs() / 60;
            return Err(access::signature_not_yet_current(date, &latest.to_string(), &now.to_string(), minutes));
        }
        Ok(())
    }
}

/// Splits a query into unescaped names and values.
pub(crate) fn query_pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    canonical::query_pairs(query).map(|(name, value)| (decode_query(name), decode_query(value)))
}

/// Unescapes a path segment, where `+` is a literal plus sign.
pub(crate) fn path_part(part: &str) -> String {
    decode_query(&part.replace('+', "%2B")).into_owned()
}

/// Escapes a name for use in a path.
pub(crate) fn in_path(name: &str) -> String {
    canonical::encode(name)
}

/// Returns user name and password of HTTP Basic.
fn basic(headers: &HeaderMap) -> Option<Zeroizing<String>> {
    let (scheme, given) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let decoded = STANDARD.decode(given.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    String::from_utf8(decoded).ok().map(Zeroizing::new)
}

/// Requires signatures over the headers that determine the destination and the operation.
fn check_signed_headers(authorization: &Authorization<'_>, head: &Parts) -> Result<(), Error> {
    let signed = |name: &str| authorization.signed_headers.split(';').any(|header| header == name);
    if !signed("host") {
        return Err(access::unsigned_header("Host"));
    }
    if head.headers.contains_key("x-amz-target") && !signed("x-amz-target") {
        return Err(access::unsigned_header("x-amz-target"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
