//! `POST /`: a DynamoDB operation, from the head of the request to the answer.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use hyper::Request;
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::http::request::Parts;
use keyform_core::error::access;
use keyform_core::{Error, Execute, Operation, Output};

use crate::body::{self, BodyError};
use crate::observe::Observation;
use crate::reply::{self, Reply, Wish};
use crate::shared::Shared;
use keyform_wire::Decoded;

/// Answers an operation.
pub(crate) async fn answer(shared: &Arc<Shared>, request: Request<Incoming>) -> Reply {
    let mut seen = Observation::begin();
    let (head, body) = request.into_parts();
    let wish = Wish::of(&head.headers);
    let body = match body::read(body, shared.limits.body_bytes_max, shared.timeouts.body).await {
        Ok(body) => body,
        Err(refused) => return unread(shared, &refused, wish, seen),
    };
    seen.received(body.len());
    let mut answer = Vec::new();
    let status = match run(shared, &head, body, &mut answer, &mut seen).await {
        Ok(()) => 200,
        Err(error) => refuse(&error, &mut answer, &mut seen),
    };
    finish(shared, status, answer, wish, &seen)
}

/// The answer when the body did not arrive as it should.
fn unread(shared: &Shared, refused: &BodyError, wish: Wish, mut seen: Observation) -> Reply {
    let error = match refused {
        BodyError::TooLarge => access::request_too_large(shared.limits.body_bytes_max),
        BodyError::TooSlow => access::body_too_slow(shared.timeouts.body.as_secs()),
        BodyError::Broken => access::body_broken(),
    };
    let mut answer = Vec::new();
    let status = refuse(&error, &mut answer, &mut seen);
    reply::closing(finish(shared, status, answer, wish, &seen))
}

fn refuse(error: &Error, answer: &mut Vec<u8>, seen: &mut Observation) -> u16 {
    answer.clear();
    keyform_wire::encode_error(error, answer);
    seen.refused(error);
    error.code().status()
}

fn finish(shared: &Shared, status: u16, answer: Vec<u8>, wish: Wish, seen: &Observation) -> Reply {
    let sent = answer.len();
    let reply = reply::operation(status, answer, wish, shared.limits.gzip_bytes_min, seen.id());
    seen.end(&shared.metrics, status, sent);
    reply
}

async fn run(
    shared: &Arc<Shared>,
    head: &Parts,
    body: Bytes,
    answer: &mut Vec<u8>,
    seen: &mut Observation,
) -> Result<(), Error> {
    if let Some(verifier) = &shared.verifier {
        verifier.verify(head, &body)?;
    }
    let body = body::unpack(&head.headers, body, shared.limits.body_bytes_max)?;
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let request = match guard(|| keyform_wire::decode(target, &body))?? {
        Decoded::Operation(request) => *request,
        Decoded::DescribeEndpoints => {
            seen.operation("DescribeEndpoints");
            describe_endpoints(head, answer);
            return Ok(());
        }
    };
    drop(body);
    seen.operation(request.name);
    seen.table(&request.operation);
    let output = execute(&shared.execute, request.operation).await?;
    guard(|| keyform_wire::encode(&request.echo, &output, answer))
}

/// Runs an operation: here when it is short, on a thread for long work when it may keep others waiting.
async fn execute(store: &Arc<dyn Execute>, operation: Operation) -> Result<Output, Error> {
    if !is_long(&operation) {
        return caught(store.as_ref(), operation).await;
    }
    let store = store.clone();
    let runtime = tokio::runtime::Handle::current();
    let work = tokio::task::spawn_blocking(move || runtime.block_on(caught(store.as_ref(), operation)));
    work.await.unwrap_or_else(|_| Err(panicked()))
}

/// Scans read up to a megabyte wherever it lies; everything else reads little, or little that is far apart.
fn is_long(operation: &Operation) -> bool {
    match operation {
        Operation::Scan(scan) => scan.limit.is_none_or(|limit| limit > 100),
        Operation::UpdateTable(_) | Operation::DeleteTable { .. } => true,
        _ => false,
    }
}

/// Runs an operation whose panics become errors: one request that finds a fault must not end the others.
async fn caught(store: &dyn Execute, operation: Operation) -> Result<Output, Error> {
    let mut work = guard(|| store.execute(operation))?;
    poll_fn(|cx| match guard(|| work.as_mut().poll(cx)) {
        Ok(poll) => poll,
        Err(error) => Poll::Ready(Err(error)),
    })
    .await
}

fn guard<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| panicked())
}

fn panicked() -> Error {
    tracing::error!("a request found a fault in the program: please report it with the message above");
    Error::internal("Internal server error")
}

/// Clients that look for endpoints are told to stay where they are.
fn describe_endpoints(head: &Parts, answer: &mut Vec<u8>) {
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let plain: String = host.chars().filter(|symbol| symbol.is_ascii_graphic() && !"\"\\".contains(*symbol)).collect();
    answer.extend_from_slice(
        format!("{{\"Endpoints\":[{{\"Address\":\"{plain}\",\"CachePeriodInMinutes\":1440}}]}}").as_bytes(),
    );
}
