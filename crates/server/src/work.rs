//! Selects the thread for the work of a request (ADR 0006). Short work runs on the worker that read the request, which
//! is cheapest. Work that would delay the worker's other connections runs on the thread pool: large bodies, scans,
//! table changes, and large answers.
//!
//! A panic becomes an error of that request; other requests continue.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use keyform_core::{Error, Execute, Operation, Output};
use keyform_wire::{Decoded, Echo};

/// Size from which JSON decoding or encoding takes about a millisecond.
const LARGE_BYTES: usize = 256 * 1024;
/// Size from which compression takes that long.
const LARGE_TO_PACK_BYTES: usize = 64 * 1024;
/// Page size from which a scan runs on the pool.
const LONG_SCAN_ITEMS: usize = 100;

/// Decodes a request from JSON.
pub(crate) async fn decode(target: &str, body: &Bytes) -> Result<Decoded, Error> {
    if body.len() < LARGE_BYTES {
        return guard(|| keyform_wire::decode(target, body))?;
    }
    let (target, body) = (target.to_owned(), body.clone());
    on_blocking_thread(move || keyform_wire::decode(&target, &body)).await?
}

/// Executes an operation and encodes its answer as JSON.
pub(crate) async fn execute(store: &Arc<dyn Execute>, operation: Operation, echo: Echo) -> Result<Vec<u8>, Error> {
    if is_long(&operation) {
        let store = store.clone();
        let runtime = tokio::runtime::Handle::current();
        let work = move || runtime.block_on(caught(store.as_ref(), operation)).map(|output| encode(&echo, &output));
        return on_blocking_thread(work).await?;
    }
    let output = caught(store.as_ref(), operation).await?;
    if output.item_bytes() > LARGE_BYTES {
        return on_blocking_thread(move || encode(&echo, &output)).await;
    }
    guard(|| encode(&echo, &output))
}

/// Compresses an answer with `pack`; returns the original and the compressed bytes.
pub(crate) async fn pack(body: Vec<u8>, pack: fn(&[u8]) -> Option<Vec<u8>>) -> (Vec<u8>, Option<Vec<u8>>) {
    if body.len() < LARGE_TO_PACK_BYTES {
        let packed = pack(&body);
        return (body, packed);
    }
    let body = Bytes::from(body);
    let shared = body.clone();
    let packed = on_blocking_thread(move || pack(&shared)).await.ok().flatten();
    (body.into(), packed)
}

fn encode(echo: &Echo, output: &Output) -> Vec<u8> {
    let bytes = output.item_bytes();
    let mut answer = Vec::with_capacity(bytes + bytes / 2 + 256);
    keyform_wire::encode(echo, output, &mut answer);
    answer
}

/// Scans read up to a megabyte; table changes may have much to clean up.
fn is_long(operation: &Operation) -> bool {
    if let Operation::Scan(scan) = operation {
        return scan.limit.is_none_or(|limit| limit > LONG_SCAN_ITEMS);
    }
    matches!(operation, Operation::UpdateTable(_) | Operation::DeleteTable(_))
}

/// Runs a future to completion; a panic becomes an error.
pub(crate) async fn whole<T>(work: impl Future<Output = T>) -> Result<T, Error> {
    let mut work = Box::pin(work);
    poll_fn(|cx| match guard(|| work.as_mut().poll(cx)) {
        Ok(poll) => poll.map(Ok),
        Err(error) => Poll::Ready(Err(error)),
    })
    .await
}

/// Runs an operation to completion; a panic becomes an error.
async fn caught(store: &dyn Execute, operation: Operation) -> Result<Output, Error> {
    let mut work = guard(|| store.execute(operation))?;
    poll_fn(|cx| match guard(|| work.as_mut().poll(cx)) {
        Ok(poll) => poll,
        Err(error) => Poll::Ready(Err(error)),
    })
    .await
}

/// Runs the work on the thread pool; a panic becomes an error.
pub(crate) async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(move || guard(work)).await.unwrap_or_else(|_| Err(fault()))
}

fn guard<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| fault())
}

fn fault() -> Error {
    tracing::error!("a request triggered a bug: please report it with the message above");
    Error::internal("Internal server error")
}
