//! Reads and decompresses request bodies, within limits of size, memory and time.
//!
//! A body that arrives in one piece is used in place; only longer ones are copied together.
//!
//! Large bodies share a byte budget ([`Budget`]), and each holds its share until its request is answered. A body
//! acquires its whole share before it grows large and never acquires a second one, so waiting bodies cannot deadlock.
//!
//! A compressed body that expands to a large one is decompressed twice: first only to measure its size. A few bytes
//! that expand to gigabytes therefore cost some time of one thread, and no memory.

use std::io::{self, Read as _};
use std::sync::Arc;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use http_body_util::BodyExt as _;
use hyper::HeaderMap;
use hyper::body::{Body as _, Incoming};
use hyper::header::CONTENT_ENCODING;
use hyper::http::request::Parts;
use keyform_core::Error;
use keyform_core::error::access;
use keyform_core::world::timeout;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::shared::Shared;
use crate::work;

/// Maximum size of a small body. Each connection may hold one small body, but large bodies must fit the budget, so the
/// memory of the server is bounded.
const SMALL_BYTES_MAX: usize = 256 * 1024;
/// Maximum compressed size that is decompressed on the worker thread. The limit is on the input, because output size
/// does not measure the work: thousands of empty gzip members expand to nothing.
const QUICK_PACKED_BYTES_MAX: usize = 16 * 1024;
/// Buffer size for measuring a large body.
const PIECE_BYTES: usize = 32 * 1024;
/// Granularity of the budget.
const SHARE_BYTES: usize = 1024;

/// Reason why a body was not read.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// Larger than `body_bytes_max`.
    TooLarge,
    /// Not complete within the body timeout.
    TooSlow,
    /// The connection was lost.
    Broken,
}

/// Request body, with its share of the budget if it is large.
#[derive(Debug)]
pub(crate) struct Body {
    bytes: Bytes,
    share: Option<Share>,
    /// Share of the [`ConnectionBudget`].
    _of_connection: Option<Share>,
}

/// Limit on the bytes of large bodies in memory at one time.
pub(crate) struct Budget {
    shares: Arc<Semaphore>,
    total: u32,
}

/// Limit on the bytes of small bodies of one connection. Only HTTP/2 connections have it, because they carry several
/// requests at a time.
#[derive(Clone)]
pub(crate) struct ConnectionBudget(pub(crate) Arc<Budget>);

/// Part of the budget, released on drop.
#[derive(Debug)]
struct Share {
    _permit: OwnedSemaphorePermit,
}

impl Budget {
    pub(crate) fn of(bytes: usize) -> Self {
        let total = u32::try_from(bytes / SHARE_BYTES).unwrap_or(u32::MAX).clamp(1, u32::MAX >> 3);
        Self { shares: Arc::new(Semaphore::new(total as usize)), total }
    }

    /// Waits for room for a body of this size. A body larger than the whole budget waits for all of it.
    async fn take(&self, bytes: usize) -> Share {
        let shares = u32::try_from(bytes.div_ceil(SHARE_BYTES)).unwrap_or(u32::MAX).clamp(1, self.total);
        let permit = self.shares.clone().acquire_many_owned(shares).await;
        Share { _permit: permit.expect("the semaphore is never closed") }
    }
}

impl Body {
    pub(crate) fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// Returns whether a body may need a share of the memory budget; a chunked one may.
pub(crate) fn may_be_large(body: &Incoming) -> bool {
    body.size_hint().upper().is_none_or(|bytes| bytes > SMALL_BYTES_MAX as u64)
}

/// Reads a body to its end.
pub(crate) async fn read(head: &Parts, body: Incoming, shared: &Shared) -> Result<Body, BodyError> {
    let bytes_max = shared.limits.body_bytes_max;
    if body.size_hint().lower() > bytes_max as u64 {
        return Err(BodyError::TooLarge);
    }
    // Memory to reserve: the announced length, or the maximum if the length is unknown or the body is compressed.
    let announced = body.size_hint().exact().filter(|_| encoding(&head.headers).is_none());
    let bytes = announced.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(bytes_max);
    let collecting = async {
        // The share is acquired before the first one of the large budget, and never while holding that: no deadlock.
        let of_connection = match head.extensions.get::<ConnectionBudget>() {
            Some(budget) if !body.is_end_stream() => Some(budget.0.take(bytes.min(SMALL_BYTES_MAX)).await),
            _ => None,
        };
        let (bytes, share) = collect(body, bytes, shared).await?;
        Ok(Body { bytes, share, _of_connection: of_connection })
    };
    timeout(&*shared.world, shared.timeouts.body, collecting).await.unwrap_or(Err(BodyError::TooSlow))
}

async fn collect(mut body: Incoming, bytes: usize, shared: &Shared) -> Result<(Bytes, Option<Share>), BodyError> {
    let bytes_max = shared.limits.body_bytes_max;
    let Some(first) = next(&mut body).await? else { return Ok((Bytes::new(), None)) };
    if body.is_end_stream() {
        let small = first.len() <= bytes_max;
        return if small { Ok((first, None)) } else { Err(BodyError::TooLarge) };
    }
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(bytes_max);
    let mut all = Vec::with_capacity(first.len() + announced.min(SMALL_BYTES_MAX));
    all.extend_from_slice(&first);
    let mut share = None;
    while all.len() <= bytes_max {
        if all.len() > SMALL_BYTES_MAX && share.is_none() {
            share = Some(shared.large_bodies.take(bytes).await);
            // Growing by doubling would use up to twice the share.
            all.reserve_exact(bytes.saturating_sub(all.len()));
        }
        match next(&mut body).await? {
            Some(piece) => all.extend_from_slice(&piece),
            None => return Ok((Bytes::from(all), share)),
        }
    }
    Err(BodyError::TooLarge)
}

async fn next(body: &mut Incoming) -> Result<Option<Bytes>, BodyError> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Err(_)) => return Err(BodyError::Broken),
            // Trailers are ignored.
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
        }
    }
}

/// Returns the content encoding unless it is `identity`.
fn encoding(headers: &HeaderMap) -> Option<&str> {
    let encoding = headers.get(CONTENT_ENCODING)?.to_str().unwrap_or("?");
    Some(encoding).filter(|encoding| !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity"))
}

/// Decompresses a body according to its headers. The size limit applies to the output too.
pub(crate) async fn unpack(headers: &HeaderMap, body: Body, shared: &Shared) -> Result<Body, Error> {
    let Some(encoding) = encoding(headers) else { return Ok(body) };
    let unreadable = || access::body_not_readable(encoding);
    if !encoding.eq_ignore_ascii_case("gzip") && !encoding.eq_ignore_ascii_case("x-gzip") {
        return Err(unreadable());
    }
    let bytes_max = shared.limits.body_bytes_max;
    if body.bytes.len() <= QUICK_PACKED_BYTES_MAX {
        let small = gunzip(&body.bytes, 4 * body.bytes.len(), bytes_max.min(SMALL_BYTES_MAX));
        if let Some(bytes) = small.map_err(|_| unreadable())? {
            return Ok(Body { bytes: Bytes::from(bytes), ..body });
        }
    }
    let bytes = measured(body.bytes.clone(), shared).await?.map_err(|_| unreadable())?;
    let bytes = bytes.ok_or_else(|| access::request_too_large(bytes_max))?;
    unpack_measured(body, bytes, shared).await?.ok_or_else(unreadable)
}

/// Measures the decompressed size on the thread pool. The semaphore bounds concurrent measurements, to leave processor
/// time for other requests. It is released before waiting for a budget share: holders of a share may be waiting for
/// this semaphore, so holding both would deadlock.
async fn measured(packed: Bytes, shared: &Shared) -> Result<io::Result<Option<usize>>, Error> {
    let bytes_max = shared.limits.body_bytes_max;
    let _turn = shared.measuring.acquire().await.expect("the semaphore is never closed");
    work::on_blocking_thread(move || measure(&packed, bytes_max)).await
}

/// Decompresses a body of known output size.
async fn unpack_measured(body: Body, bytes: usize, shared: &Shared) -> Result<Option<Body>, Error> {
    let Body { bytes: packed, share, _of_connection } = body;
    let share = match share {
        None if bytes > SMALL_BYTES_MAX => Some(shared.large_bodies.take(bytes).await),
        share => share,
    };
    let unpacked = work::on_blocking_thread(move || gunzip(&packed, bytes, bytes)).await?;
    Ok(unpacked.ok().flatten().map(|bytes| Body { bytes: Bytes::from(bytes), share, _of_connection }))
}

/// Returns the decompressed size, or `None` if it exceeds the limit.
fn measure(packed: &[u8], bytes_max: usize) -> io::Result<Option<usize>> {
    let mut unpacking = MultiGzDecoder::new(packed);
    let (mut piece, mut bytes) = (vec![0; PIECE_BYTES], 0);
    loop {
        match unpacking.read(&mut piece)? {
            0 => return Ok(Some(bytes)),
            count => bytes += count,
        }
        if bytes > bytes_max {
            return Ok(None);
        }
    }
}

/// Decompresses a body, or returns `None` if the output exceeds the limit. `expected` is the initial capacity.
fn gunzip(packed: &[u8], expected: usize, bytes_max: usize) -> io::Result<Option<Vec<u8>>> {
    let mut unpacked = Vec::with_capacity(expected.min(bytes_max));
    // Reading one byte beyond the limit detects longer output.
    MultiGzDecoder::new(packed).take(bytes_max as u64 + 1).read_to_end(&mut unpacked)?;
    Ok((unpacked.len() <= bytes_max).then_some(unpacked))
}
