//! Reading and unpacking bodies, within limits of size and time.
//!
//! A body that came in one piece is used where it lies; only longer ones are copied together.

use std::io::{self, Read as _};

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http_body_util::BodyExt as _;
use hyper::HeaderMap;
use hyper::body::{Body as _, Incoming};
use hyper::header::CONTENT_ENCODING;
use keyform_core::Error;
use keyform_core::error::access;
use tokio::sync::OwnedSemaphorePermit;

use crate::shared::Shared;
use crate::work;

/// The size up to which a body is small. All connections together may hold as many small bodies as there are
/// connections, but only so many large ones: the memory of the server is bounded.
const SMALL_BYTES_MAX: usize = 256 * 1024;

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

/// A body, and the right to keep a large one in memory.
#[derive(Debug)]
pub(crate) struct Body {
    bytes: Bytes,
    turn: Option<OwnedSemaphorePermit>,
}

impl Body {
    /// The bytes as they were sent.
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// Reads a body to its end.
pub(crate) async fn read(body: Incoming, shared: &Shared) -> Result<Body, BodyError> {
    if body.size_hint().lower() > shared.limits.body_bytes_max as u64 {
        return Err(BodyError::TooLarge);
    }
    tokio::time::timeout(shared.timeouts.body, collect(body, shared)).await.unwrap_or(Err(BodyError::TooSlow))
}

async fn collect(mut body: Incoming, shared: &Shared) -> Result<Body, BodyError> {
    let bytes_max = shared.limits.body_bytes_max;
    let Some(first) = next(&mut body).await? else { return Ok(Body { bytes: Bytes::new(), turn: None }) };
    if body.is_end_stream() {
        let small = first.len() <= bytes_max;
        return if small { Ok(Body { bytes: first, turn: None }) } else { Err(BodyError::TooLarge) };
    }
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(bytes_max);
    let mut all = Vec::with_capacity(first.len() + announced.min(SMALL_BYTES_MAX));
    all.extend_from_slice(&first);
    let mut turn = None;
    while all.len() <= bytes_max {
        if all.len() > SMALL_BYTES_MAX && turn.is_none() {
            turn = Some(wait_for_turn(shared).await);
        }
        match next(&mut body).await? {
            Some(piece) => all.extend_from_slice(&piece),
            None => return Ok(Body { bytes: Bytes::from(all), turn }),
        }
    }
    Err(BodyError::TooLarge)
}

/// Waits until another large body may be in memory.
async fn wait_for_turn(shared: &Shared) -> OwnedSemaphorePermit {
    shared.large_bodies.clone().acquire_owned().await.expect("the semaphore is never closed")
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
pub(crate) async fn unpack(headers: &HeaderMap, mut body: Body, shared: &Shared) -> Result<Body, Error> {
    let Some(encoding) = headers.get(CONTENT_ENCODING) else { return Ok(body) };
    let encoding = encoding.to_str().unwrap_or("?");
    if encoding.is_empty() || encoding.eq_ignore_ascii_case("identity") {
        return Ok(body);
    }
    if !encoding.eq_ignore_ascii_case("gzip") && !encoding.eq_ignore_ascii_case("x-gzip") {
        return Err(access::body_not_readable(encoding));
    }
    let bytes_max = shared.limits.body_bytes_max;
    let mut unpacked = gunzip(&body.bytes, bytes_max.min(SMALL_BYTES_MAX));
    if unpacked.as_ref().is_ok_and(|bytes| bytes.len() > SMALL_BYTES_MAX) {
        if body.turn.is_none() {
            body.turn = Some(wait_for_turn(shared).await);
        }
        let packed = body.bytes.clone();
        unpacked = work::elsewhere(move || gunzip(&packed, bytes_max)).await?;
    }
    let unpacked = unpacked.map_err(|_| access::body_not_readable(encoding))?;
    if unpacked.len() > bytes_max {
        return Err(access::request_too_large(bytes_max));
    }
    Ok(Body { bytes: Bytes::from(unpacked), turn: body.turn })
}

/// Unpacks as far as one byte beyond the limit, which tells that there is more.
fn gunzip(packed: &[u8], bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut unpacked = Vec::with_capacity(packed.len().saturating_mul(4).min(bytes_max));
    MultiGzDecoder::new(packed).take(bytes_max as u64 + 1).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}
