//! Reading and unpacking bodies, within limits of size and time.
//!
//! A body that came in one piece is used where it lies; only longer ones are copied together.

use std::io::Read as _;
use std::time::Duration;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http_body_util::BodyExt as _;
use hyper::HeaderMap;
use hyper::body::{Body as _, Incoming};
use hyper::header::CONTENT_ENCODING;
use keyform_core::Error;
use keyform_core::error::access;

/// The room taken before a long body has arrived.
const FIRST_BYTES_MAX: usize = 256 * 1024;

/// Why a body is not there.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// It is larger than allowed.
    TooLarge,
    /// The client is too slow.
    TooSlow,
    /// The connection broke off.
    Broken,
}

/// Reads a body to its end.
pub(crate) async fn read(body: Incoming, bytes_max: usize, patience: Duration) -> Result<Bytes, BodyError> {
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(BodyError::TooLarge);
    }
    tokio::time::timeout(patience, collect(body, bytes_max)).await.unwrap_or(Err(BodyError::TooSlow))
}

async fn collect(mut body: Incoming, bytes_max: usize) -> Result<Bytes, BodyError> {
    let Some(first) = next(&mut body).await? else { return Ok(Bytes::new()) };
    if body.is_end_stream() {
        return if first.len() > bytes_max { Err(BodyError::TooLarge) } else { Ok(first) };
    }
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(bytes_max);
    let mut all = Vec::with_capacity(first.len() + announced.min(FIRST_BYTES_MAX));
    all.extend_from_slice(&first);
    while all.len() <= bytes_max {
        match next(&mut body).await? {
            Some(piece) => all.extend_from_slice(&piece),
            None => return Ok(Bytes::from(all)),
        }
    }
    Err(BodyError::TooLarge)
}

async fn next(body: &mut Incoming) -> Result<Option<Bytes>, BodyError> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(_)) => return Err(BodyError::Broken),
            // Trailers say nothing that we need.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// Unpacks a body as its headers say; what it becomes is bounded too.
pub(crate) fn unpack(headers: &HeaderMap, body: Bytes, bytes_max: usize) -> Result<Bytes, Error> {
    let Some(encoding) = headers.get(CONTENT_ENCODING) else { return Ok(body) };
    let encoding = encoding.to_str().unwrap_or("?");
    if encoding.is_empty() || encoding.eq_ignore_ascii_case("identity") {
        return Ok(body);
    }
    if !encoding.eq_ignore_ascii_case("gzip") && !encoding.eq_ignore_ascii_case("x-gzip") {
        return Err(access::body_not_readable(encoding));
    }
    let mut unpacked = Vec::with_capacity(body.len().saturating_mul(4).min(FIRST_BYTES_MAX));
    let mut reader = MultiGzDecoder::new(&body[..]).take(bytes_max as u64 + 1);
    reader.read_to_end(&mut unpacked).map_err(|_| access::body_not_readable(encoding))?;
    if unpacked.len() > bytes_max { Err(access::request_too_large(bytes_max)) } else { Ok(Bytes::from(unpacked)) }
}
