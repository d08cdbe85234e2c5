//! `POST /`: executes DynamoDB operations.

use std::sync::Arc;

use hyper::Request;
use hyper::body::Incoming;
use hyper::header::HOST;
use hyper::http::request::Parts;
use keyform_core::Error;
use keyform_core::error::access;
use keyform_flow::Client;
use keyform_wire::Decoded;

use crate::body::{self, Body, BodyError};
use crate::observe::Observation;
use crate::reply::{self, Reply, Wish};
use crate::shared::Shared;
use crate::work;

/// Response for closed operations, in the format that SDKs display.
const CLOSED: &[u8] = br#"{"__type":"com.amazon.coral.service#AccessDeniedException","message":"DynamoDB operations are closed: a token key is configured, but no credentials. Run `keyform credentials add` and restart the server"}"#;

pub(crate) async fn answer(shared: &Arc<Shared>, request: Request<Incoming>) -> Reply {
    let mut seen = Observation::begin(&*shared.world, client(&request));
    let (head, body) = request.into_parts();
    let wish = Wish::of(&head.headers);
    if let Err(error) = check_before_large_body(shared, &head, &body) {
        let (status, answer) = refuse(&error, &mut seen);
        return reply::closing(finish(shared, status, answer, wish, &seen).await);
    }
    let body = match body::read(&head, body, shared).await {
        Ok(body) => body,
        Err(refused) => return unread(shared, &refused, wish, seen).await,
    };
    seen.received(body.bytes().len());
    let (status, answer) = match run(shared, &head, body, &mut seen).await {
        Ok(answer) => (200, answer),
        Err(error) => refuse(&error, &mut seen),
    };
    finish(shared, status, answer, wish, &seen).await
}

fn client(request: &Request<Incoming>) -> Option<Client> {
    request.extensions().get().copied()
}

/// Large bodies share a memory budget, and one that stalls holds its share: a stranger must not get one.
fn check_before_large_body(shared: &Shared, head: &Parts, body: &Incoming) -> Result<(), Error> {
    match &shared.verifier {
        Some(verifier) if body::may_be_large(body) => verifier.check_head(head),
        _ => Ok(()),
    }
}

/// Rejects an operation without reading it. Used when models are protected by tokens but operations have no
/// credentials.
pub(crate) async fn closed(shared: &Shared, request: Request<Incoming>) -> Reply {
    let (seen, wish) = (Observation::begin(&*shared.world, client(&request)), Wish::of(request.headers()));
    reply::closing(finish(shared, 403, CLOSED.to_vec(), wish, &seen).await)
}

/// Responds to a body that could not be read.
async fn unread(shared: &Shared, refused: &BodyError, wish: Wish, mut seen: Observation) -> Reply {
    let error = match refused {
        BodyError::TooLarge => access::request_too_large(shared.limits.body_bytes_max),
        BodyError::TooSlow => access::body_too_slow(shared.timeouts.body.as_secs()),
        BodyError::Broken => access::body_broken(),
    };
    let (status, answer) = refuse(&error, &mut seen);
    reply::closing(finish(shared, status, answer, wish, &seen).await)
}

fn refuse(error: &Error, seen: &mut Observation) -> (u16, Vec<u8>) {
    let mut answer = Vec::new();
    keyform_wire::encode_error(error, &mut answer);
    seen.refused(error);
    (error.code().status(), answer)
}

async fn finish(shared: &Shared, status: u16, answer: Vec<u8>, wish: Wish, seen: &Observation) -> Reply {
    let sent = answer.len();
    let reply = reply::operation(status, answer, wish, shared.limits.gzip_bytes_min, seen.id()).await;
    seen.end(shared, status, sent);
    reply
}

async fn run(shared: &Arc<Shared>, head: &Parts, body: Body, seen: &mut Observation) -> Result<Vec<u8>, Error> {
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    seen.target(target);
    if let Some(verifier) = &shared.verifier {
        verifier.verify(head, body.bytes())?;
    }
    let body = body::unpack(&head.headers, body, shared).await?;
    match work::decode(target, body.bytes()).await? {
        Decoded::DescribeEndpoints => Ok(describe_endpoints(head)),
        Decoded::Operation(request) => {
            seen.table(&request.operation);
            work::execute(&shared.execute, request.operation, request.echo).await
        }
    }
}

/// Answers endpoint discovery with the host that the client already uses.
fn describe_endpoints(head: &Parts) -> Vec<u8> {
    let host = head.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let plain: String = host.chars().filter(|symbol| symbol.is_ascii_graphic() && !"\"\\".contains(*symbol)).collect();
    format!("{{\"Endpoints\":[{{\"Address\":\"{plain}\",\"CachePeriodInMinutes\":1440}}]}}").into_bytes()
}
