//! Canonical form of a request, the input of the signature.
//!
//! ```text
//! POST                      method
//! /                         path
//!                           query, sorted
//! host:localhost:8000       signed headers, in the order in which they are listed
//! x-amz-date:…
//!
//! host;x-amz-date           their names
//! e3b0c442…                 hash of the body
//! ```

use std::borrow::Cow;

use aws_lc_rs::digest;
use hyper::HeaderMap;
use hyper::http::request::Parts;

use super::authorization::{ALGORITHM, Authorization};
use super::signing_key::hex;

/// Returns the string to sign, which contains the hash of the canonical request.
pub(super) fn string_to_sign(authorization: &Authorization<'_>, head: &Parts, body: &[u8]) -> String {
    let request = canonical_request(authorization, head, body);
    let Authorization { date, day, region, service, terminator, .. } = authorization;
    format!("{ALGORITHM}\n{date}\n{day}/{region}/{service}/{terminator}\n{}", sha256(request.as_bytes()))
}

fn canonical_request(authorization: &Authorization<'_>, head: &Parts, body: &[u8]) -> String {
    let mut text = String::with_capacity(512);
    text.push_str(head.method.as_str());
    text.push('\n');
    text.push_str(head.uri.path());
    text.push('\n');
    text.push_str(&canonical_query(head.uri.query().unwrap_or_default(), authorization.presigned));
    text.push('\n');
    for name in authorization.signed_headers.split(';') {
        push_header(&mut text, name, &head.headers);
    }
    text.push('\n');
    text.push_str(&authorization.signed_headers);
    text.push('\n');
    text.push_str(&sha256(body));
    text
}

/// Appends one line: name, colon, and values with redundant spaces removed.
fn push_header(text: &mut String, name: &str, headers: &HeaderMap) {
    text.push_str(name);
    text.push(':');
    for (place, value) in headers.get_all(name).iter().enumerate() {
        if place > 0 {
            text.push(',');
        }
        let value = String::from_utf8_lossy(value.as_bytes());
        for (place, word) in value.split(' ').filter(|word| !word.is_empty()).enumerate() {
            if place > 0 {
                text.push(' ');
            }
            text.push_str(word);
        }
    }
    text.push('\n');
}

fn canonical_query(query: &str, presigned: bool) -> String {
    let mut pairs: Vec<(String, String)> = query_pairs(query)
        .filter(|(name, _)| !(presigned && *name == "X-Amz-Signature"))
        .map(|(name, value)| (encode(&decode_query(name)), encode(&decode_query(value))))
        .collect();
    pairs.sort_unstable();
    let pairs: Vec<String> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

/// Splits a query into names and values, still escaped.
pub(super) fn query_pairs(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// Removes the escapes of a name or value in a query.
pub(super) fn decode_query(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = (first == b'%').then(|| tail.get(..2)).flatten().and_then(hex_byte);
        bytes.push(escaped.unwrap_or(if first == b'+' { b' ' } else { first }));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(digits[0])? * 16 + digit(digits[1])?)
}

pub(super) fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}
