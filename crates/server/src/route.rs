//! Routing table:
//!
//! | path | method | answer |
//! |---|---|---|
//! | `/` | POST | a DynamoDB operation |
//! | `/` | GET | health message |
//! | `/v1…` | GET, POST | the patterns of models |
//! | `/v1/{model}/live` | GET | live reads, as a WebSocket |
//! | `/healthz` | GET | liveness |
//! | `/readyz` | GET | readiness for operations |
//! | `/metrics` | GET | metrics for Prometheus |

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::http::HeaderValue;
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode, header};

use keyform_flow::Client;

use crate::admission::{Admission, Refusal};
use crate::api;
use crate::endpoint;
use crate::gate;
use crate::proxies::Scheme;
use crate::reply::{self, Reply};
use crate::security::Security;
use crate::shared::Shared;

/// Slot of a request that came through a trusted proxy, shared with the live session that may follow it.
pub(crate) type Slot = Option<Arc<Admission>>;

/// Adds the client and the scheme to a request, and counts a request of a trusted proxy for its client.
pub(crate) fn identify(shared: &Shared, peer: IpAddr, request: &mut Request<Incoming>) -> Result<Slot, Refusal> {
    let client = shared.proxies.client(peer, request.headers());
    let scheme = match &shared.tls {
        Some(_) => Some(Scheme::Https),
        None => shared.proxies.scheme(peer, request.headers()),
    };
    let slot = match shared.proxies.trust(peer).then(|| shared.admissions.admit_request(client)) {
        None => None,
        Some(Ok(slot)) => Some(Arc::new(slot)),
        Some(Err(refusal)) => {
            shared.metrics.record_refused(refusal);
            return Err(refusal);
        }
    };
    let extensions = request.extensions_mut();
    extensions.insert(Client::from(client));
    extensions.insert(scheme);
    extensions.insert(slot.clone());
    Ok(slot)
}

/// Answers a client that is at its limit.
pub(crate) fn too_many_requests() -> Reply {
    let mut reply =
        reply::refusal(StatusCode::SERVICE_UNAVAILABLE, "this client has too many requests: try again later");
    reply.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    reply::closing(reply)
}

/// Answers any request. While the server stops, the response closes the connection.
pub(crate) async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Reply, Infallible> {
    let reply = match gate::check(&shared.hosts, &shared.cors, shared.security, &request) {
        Ok(()) if is_of_models(request.uri().path()) => shared_with_pages(&shared, request).await,
        Ok(()) => route(&shared, request).await,
        Err(refusal) => refusal.reply(),
    };
    Ok(if shared.is_stopping() { reply::closing(reply) } else { reply })
}

/// Answers a request for the model API, which web pages of other origins may send.
async fn shared_with_pages(shared: &Arc<Shared>, request: Request<Incoming>) -> Reply {
    let origin = shared.cors.allowed_origin(request.headers());
    let mut reply = match shared.cors.preflight(&request) {
        Some(reply) => reply,
        None => route(shared, request).await,
    };
    shared.cors.share(origin, &mut reply);
    reply
}

async fn route(shared: &Arc<Shared>, request: Request<Incoming>) -> Reply {
    let security = shared.security;
    match (request.method(), request.uri().path()) {
        (&Method::POST, "/") if shared.operations && !security.opens_operations() => {
            endpoint::closed(shared, request).await
        }
        (&Method::POST, "/") if shared.operations => endpoint::answer(shared, request).await,
        (_, path) if is_of_models(path) && !security.opens_models() => api::closed(),
        _ if api::live::is_wanted(&request) => api::live::answer(shared, request),
        (_, path) if is_of_models(path) => api::answer(shared, request).await,
        _ => other(shared, &request.into_parts().0).await,
    }
}

/// Returns whether a path belongs to the model API.
pub(crate) fn is_of_models(path: &str) -> bool {
    path == "/v1" || path.starts_with("/v1/")
}

/// Answers requests that are not operations.
async fn other(shared: &Shared, head: &Parts) -> Reply {
    let asks = is_asking(&head.method);
    match head.uri.path() {
        "/" if !shared.operations => reply::refusal(
            StatusCode::NOT_FOUND,
            "This server accepts no DynamoDB operations because its store is remote; the models are at /v1",
        ),
        "/" if asks => reply::text(StatusCode::OK, format!("healthy: dynamodb.{}.amazonaws.com \n", shared.region)),
        "/healthz" if asks => liveness(),
        "/readyz" if asks => readiness(shared).await,
        "/metrics" if asks => metrics(shared, head),
        "/" => reply::method_refusal("This path accepts POST with an X-Amz-Target header, or GET", "GET, HEAD, POST"),
        "/healthz" | "/readyz" | "/metrics" => reply::method_refusal("This path accepts GET only", "GET, HEAD"),
        _ => reply::refusal(
            StatusCode::NOT_FOUND,
            "Unknown path: send operations to POST /; models are at /v1; there are also /healthz, /readyz and \
            /metrics",
        ),
    }
}

/// Returns whether the method is GET or HEAD.
pub(crate) fn is_asking(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Metrics reveal table names, pattern names and call counts, so they require credentials unless the server is in
/// development mode.
fn metrics(shared: &Shared, head: &Parts) -> Reply {
    let page = || reply::figures(shared.metrics.page(shared));
    if shared.has_metrics_address {
        return reply::refusal(StatusCode::NOT_FOUND, "Metrics have a separate port");
    }
    match (shared.security, &shared.verifier) {
        (Security::Development, _) => page(),
        (_, Some(verifier)) if gate::has_credentials(verifier, head) => page(),
        (_, Some(_)) => credentials_wanted(),
        (_, None) => reply::refusal(
            StatusCode::FORBIDDEN,
            "Metrics are closed: run `keyform credentials add` to read them with an access key, or give metrics a port of their own",
        ),
    }
}

fn credentials_wanted() -> Reply {
    let advice =
        "Metrics need an access key: sign the request, or send it with HTTP Basic; or give metrics a port of their own";
    let mut reply = reply::refusal(StatusCode::UNAUTHORIZED, advice);
    let scheme = HeaderValue::from_static("Basic realm=\"keyform metrics\"");
    reply.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    reply
}

pub(crate) fn liveness() -> Reply {
    reply::text(StatusCode::OK, "ok\n".to_owned())
}

/// Answers `/readyz`. The reason may contain paths and table names: it is sent in development mode only and logged
/// otherwise.
pub(crate) async fn readiness(shared: &Shared) -> Reply {
    match (shared.ready().await, shared.security) {
        (Ok(()), _) => reply::text(StatusCode::OK, "ready\n".to_owned()),
        (Err(reason), Security::Development) => {
            reply::text(StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {reason}\n"))
        }
        (Err(reason), Security::SignedOperations | Security::TokenCalls | Security::Full) => {
            tracing::warn!("not ready: {reason}");
            reply::text(StatusCode::SERVICE_UNAVAILABLE, "not ready\n".to_owned())
        }
    }
}
