//! Which request goes where.
//!
//! | path | method | answer |
//! |---|---|---|
//! | `/` | POST | a DynamoDB operation |
//! | `/` | GET | that it works |
//! | `/v1…` | GET, POST | the patterns of models |
//! | `/v1/{model}/live` | GET | live reads, as a WebSocket |
//! | `/healthz` | GET | that the process works |
//! | `/readyz` | GET | whether operations should be sent here |
//! | `/metrics` | GET | figures for Prometheus |

use std::convert::Infallible;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Method, Request, StatusCode};

use crate::api;
use crate::endpoint;
use crate::reply::{self, Reply};
use crate::shared::Shared;

/// Answers a request; there is always an answer. While the server stops, it ends the connection.
pub(crate) async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Reply, Infallible> {
    let reply = match (request.method(), request.uri().path()) {
        (&Method::POST, "/") if shared.operations => endpoint::answer(&shared, request).await,
        _ if api::live::is_wanted(&request) => api::live::answer(&shared, request),
        (_, path) if path == "/v1" || path.starts_with("/v1/") => api::answer(&shared, request).await,
        _ => other(&shared, &request).await,
    };
    Ok(if shared.is_stopping() { reply::closing(reply) } else { reply })
}

/// Answers what is no operation.
async fn other(shared: &Shared, request: &Request<Incoming>) -> Reply {
    let asks = matches!(*request.method(), Method::GET | Method::HEAD);
    match request.uri().path() {
        "/" if !shared.operations => reply::refusal(
            StatusCode::NOT_FOUND,
            "This server takes no DynamoDB operations: its store is elsewhere, and the models are at /v1",
        ),
        "/" if asks => reply::text(StatusCode::OK, format!("healthy: dynamodb.{}.amazonaws.com \n", shared.region)),
        "/healthz" if asks => reply::text(StatusCode::OK, "ok\n".to_owned()),
        "/readyz" if asks => readiness(shared).await,
        "/metrics" if asks => reply::figures(shared.metrics.page(shared)),
        "/" => reply::method_refusal("This path takes POST with an X-Amz-Target header, or GET", "GET, HEAD, POST"),
        "/healthz" | "/readyz" | "/metrics" => reply::method_refusal("This path takes GET only", "GET, HEAD"),
        _ => reply::refusal(
            StatusCode::NOT_FOUND,
            "There is nothing at this path: operations go to POST /, models are at /v1, and there are /healthz, /readyz and /metrics",
        ),
    }
}

async fn readiness(shared: &Shared) -> Reply {
    match shared.ready().await {
        Ok(()) => reply::text(StatusCode::OK, "ready\n".to_owned()),
        Err(reason) => reply::text(StatusCode::SERVICE_UNAVAILABLE, format!("not ready: {reason}\n")),
    }
}
