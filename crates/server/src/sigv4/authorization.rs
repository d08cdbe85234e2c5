//! Parses the parts of a signature from the `Authorization` header or the query.

use std::borrow::Cow;
use std::time::Duration;

use hyper::http::request::Parts;
use keyform_core::Error;
use keyform_core::error::access;

use super::SKEW;
use super::canonical::{decode_query, query_pairs};

/// Only supported algorithm.
pub(super) const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// Maximum lifetime of a presigned request: seven days.
const LIFETIME_SECS_MAX: u64 = 7 * 24 * 60 * 60;

#[derive(Debug)]
pub(super) struct Authorization<'a> {
    pub(super) access_key: &'a str,
    pub(super) day: &'a str,
    pub(super) region: &'a str,
    pub(super) service: &'a str,
    pub(super) terminator: &'a str,
    pub(super) signed_headers: Cow<'a, str>,
    pub(super) signature: Cow<'a, str>,
    pub(super) date: Cow<'a, str>,
    /// Lifetime of a presigned request.
    pub(super) lifetime: Option<Duration>,
    /// Set if the signature is in the query; it is then excluded from the signed query.
    pub(super) presigned: bool,
}

impl<'a> Authorization<'a> {
    /// Parses the signature of a request.
    pub(super) fn read(head: &'a Parts) -> Result<Self, Error> {
        let header = head.headers.get("authorization").map(|value| value.to_str().unwrap_or_default());
        let query = head.uri.query().unwrap_or_default();
        let presigned = query_pairs(query).any(|(name, _)| name == "X-Amz-Algorithm");
        match (header, presigned) {
            (Some(_), true) => Err(access::two_signatures()),
            (Some(header), false) => Self::from_header(header, head),
            (None, true) => Self::from_query(query),
            (None, false) => Err(access::missing_authentication_token()),
        }
    }

    fn from_header(header: &'a str, head: &'a Parts) -> Result<Self, Error> {
        let (algorithm, rest) = header.split_once(' ').unwrap_or((header, ""));
        if algorithm != ALGORITHM {
            return Err(access::unsupported_algorithm(algorithm));
        }
        let part = |name: &str| {
            let mut parts = rest.split(',').filter_map(|part| part.trim().split_once('='));
            parts.find(|(key, _)| *key == name).map(|(_, value)| value).filter(|value| !value.is_empty())
        };
        let (credential, signature, signed) = (part("Credential"), part("Signature"), part("SignedHeaders"));
        let date = ["x-amz-date", "date"].iter().find_map(|name| head.headers.get(*name)?.to_str().ok());
        let (Some(credential), Some(signature), Some(signed), Some(date)) = (credential, signature, signed, date)
        else {
            let parts = [("Credential", credential), ("Signature", signature), ("SignedHeaders", signed)];
            return Err(access::incomplete_authorization(&missing(&parts), date.is_none(), header));
        };
        Self::from_credential(credential, signed.into(), signature.into(), date.into())
    }

    fn from_query(query: &'a str) -> Result<Self, Error> {
        let part = |name: &str| {
            query_pairs(query).find(|(key, _)| *key == name).map(|(_, value)| value).filter(|value| !value.is_empty())
        };
        let algorithm = decode_query(part("X-Amz-Algorithm").unwrap_or_default());
        if algorithm != ALGORITHM {
            return Err(access::unsupported_algorithm(&algorithm));
        }
        let names = ["X-Amz-Credential", "X-Amz-Signature", "X-Amz-SignedHeaders", "X-Amz-Date"];
        let [Some(credential), Some(signature), Some(signed), Some(date)] = names.map(part) else {
            return Err(access::incomplete_query(&missing(&names.map(|name| (name, part(name))))));
        };
        let lifetime = lifetime(query_pairs(query).find(|(key, _)| *key == "X-Amz-Expires").map(|(_, value)| value))?;
        let mut parts =
            Self::from_credential(credential, decode_query(signed), decode_query(signature), decode_query(date))?;
        parts.lifetime = Some(lifetime);
        parts.presigned = true;
        Ok(parts)
    }

    /// Parses a credential. In a query its slashes may be escaped; none of its parts can contain escaped characters.
    fn from_credential(
        credential: &'a str,
        signed_headers: Cow<'a, str>,
        signature: Cow<'a, str>,
        date: Cow<'a, str>,
    ) -> Result<Self, Error> {
        let mut parts = credential.split('/').flat_map(|part| part.split("%2F")).flat_map(|part| part.split("%2f"));
        let mut next = || parts.next().ok_or_else(|| access::malformed_credential(credential));
        let (access_key, day, region, service, terminator) = (next()?, next()?, next()?, next()?, next()?);
        if parts.next().is_some() {
            return Err(access::malformed_credential(credential));
        }
        Ok(Self {
            access_key,
            day,
            region,
            service,
            terminator,
            signed_headers,
            signature,
            date,
            lifetime: None,
            presigned: false,
        })
    }
}

/// Parses the lifetime of a presigned request: a number of seconds, in digits only. SDKs always send one; without it a
/// request is valid as long as one with a signed header.
fn lifetime(text: Option<&str>) -> Result<Duration, Error> {
    let Some(text) = text else { return Ok(SKEW) };
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = is_number.then(|| text.parse::<u64>().ok()).flatten();
    let seconds = seconds.filter(|seconds| (1..=LIFETIME_SECS_MAX).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| access::lifetime_out_of_range(LIFETIME_SECS_MAX))
}

fn missing<'a>(parts: &[(&'a str, Option<&str>)]) -> Vec<&'a str> {
    parts.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| *name).collect()
}
