//! WebSocket handshake, and the handover of the connection from HTTP to a session.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use hyper::http::HeaderValue;
use hyper::{HeaderMap, Method, Request, StatusCode, Version};
use hyper_util::rt::TokioIo;
use keyform_core::execute::BoxFuture;
use keyform_flow::Client;
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::super::answer::find;
use super::super::problem::{self, Problem};
use super::access::{self, Access};
use super::session::Session;
use crate::reply::{self, Reply};
use crate::request_id::RequestId;
use crate::route::Slot;
use crate::shared::Shared;

/// Task that takes over the connection after the upgrade, and the server's stop signal.
#[derive(Clone)]
pub(crate) struct Upgrade {
    next: Arc<Mutex<Option<BoxFuture<'static, ()>>>>,
    set: Arc<AtomicBool>,
    stopping: watch::Receiver<bool>,
}

impl Upgrade {
    pub(crate) fn new(stopping: watch::Receiver<bool>) -> Self {
        Self { next: Arc::default(), set: Arc::default(), stopping }
    }

    /// Takes the task that continues the connection, if it was upgraded.
    pub(crate) fn take(&self) -> Option<BoxFuture<'static, ()>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns a flag that is set once the connection is no longer HTTP.
    pub(crate) fn is_set(&self) -> Arc<AtomicBool> {
        self.set.clone()
    }

    fn set(&self, next: BoxFuture<'static, ()>) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
        self.set.store(true, Ordering::Relaxed);
    }
}

/// Returns whether a request is a WebSocket handshake for `/v1/{model}/live`.
pub(crate) fn is_wanted<Body>(request: &Request<Body>) -> bool {
    let path: Vec<&str> = request.uri().path().trim_end_matches('/').split('/').collect();
    matches!(path.as_slice(), ["", "v1", _, "live"]) && has_token(request.headers(), &UPGRADE, "websocket")
}

pub(crate) fn answer(shared: &Arc<Shared>, request: Request<Incoming>) -> Reply {
    let id = RequestId::next();
    accept(shared, request, &id)
        .unwrap_or_else(|problem| reply::model(problem.status(), problem.body(), true, problem.header(), &id))
}

fn accept(shared: &Arc<Shared>, mut request: Request<Incoming>, id: &RequestId) -> Result<Reply, Problem> {
    let wrong = |detail: &str| Problem::new(problem::ARGUMENTS, detail);
    let name = request.uri().path().split('/').nth(2).unwrap_or_default();
    let served = find(shared, name)?;
    let headers = request.headers();
    let is_new = request.version() == Version::HTTP_11;
    if !is_new || request.method() != Method::GET || !has_token(headers, &CONNECTION, "upgrade") {
        return Err(wrong("not a WebSocket handshake: send a GET over HTTP/1.1 with Connection: Upgrade"));
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(wrong("the WebSocket version must be 13").with_header("sec-websocket-version", "13"));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).ok_or_else(|| wrong("Sec-WebSocket-Key is missing"))?;
    let accepted = HeaderValue::from_str(&derive_accept_key(key.as_bytes())).expect("base64 is ASCII");
    let (access, named) = (Access::of(headers), access::names_protocol(headers));
    let upgrade = request.extensions_mut().remove::<Upgrade>();
    let upgrade = upgrade.ok_or_else(|| Problem::new(problem::INTERNAL, "cannot upgrade the connection"))?;
    let client = request.extensions().get::<Client>().copied().unwrap_or(Client::LOCAL);
    // A request of a trusted proxy counts for its client until the session ends.
    let slot = request.extensions_mut().remove::<Slot>();
    let session = Session::new(shared.clone(), served, access, client, upgrade.stopping.clone());
    let upgraded = hyper::upgrade::on(request);
    let config = config(shared);
    upgrade.set(Box::pin(async move {
        match upgraded.await {
            Ok(stream) => {
                let stream = TokioIo::new(stream);
                session.run(WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await).await;
            }
            Err(error) => tracing::debug!(%error, "a handshake failed"),
        }
        drop(slot);
    }));
    Ok(switching(accepted, named, id))
}

fn switching(accepted: HeaderValue, named: bool, id: &RequestId) -> Reply {
    let mut reply = reply::model(204, Vec::new(), false, None, id);
    *reply.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = reply.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accepted);
    if named {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(access::PROTOCOL));
    }
    reply
}

fn config(shared: &Shared) -> WebSocketConfig {
    let mut config = WebSocketConfig::default();
    config.read_buffer_size = 4 * 1024;
    config.write_buffer_size = 8 * 1024;
    config.max_message_size = Some(shared.limits.live_message_bytes_max);
    config.max_frame_size = Some(shared.limits.live_message_bytes_max);
    config
}

fn has_token(headers: &HeaderMap, name: &hyper::header::HeaderName, token: &str) -> bool {
    let lists = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|part| part.trim().eq_ignore_ascii_case(token))
}
