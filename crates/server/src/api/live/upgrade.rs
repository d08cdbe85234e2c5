//! The handshake of a WebSocket, and what becomes of the connection.

use std::sync::{Arc, Mutex, PoisonError};

use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HOST, ORIGIN, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION,
    UPGRADE,
};
use hyper::http::HeaderValue;
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use keyform_core::execute::BoxFuture;
use tokio::sync::watch;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

use super::super::answer::find;
use super::super::caller::Authentication;
use super::super::problem::{self, Problem};
use super::access::{self, Access};
use super::session::Session;
use crate::client::Client;
use crate::reply::{self, Reply};
use crate::request_id::RequestId;
use crate::shared::Shared;

/// What a connection goes on with when it is no longer HTTP, and how it learns that the server stops.
#[derive(Clone)]
pub(crate) struct Upgrade {
    next: Arc<Mutex<Option<BoxFuture<'static, ()>>>>,
    stopping: watch::Receiver<bool>,
}

impl Upgrade {
    pub(crate) fn new(stopping: watch::Receiver<bool>) -> Self {
        Self { next: Arc::default(), stopping }
    }

    /// What the connection goes on with, if it is no longer HTTP.
    pub(crate) fn take(&self) -> Option<BoxFuture<'static, ()>> {
        self.next.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, next: BoxFuture<'static, ()>) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
    }
}

/// Whether a request asks for live reads: `/v1/{model}/live`, as a WebSocket.
pub(crate) fn is_wanted(request: &Request<Incoming>) -> bool {
    let mut path = request.uri().path().trim_end_matches('/').split('/').skip(3);
    path.next() == Some("live") && path.next().is_none() && has_token(request.headers(), &UPGRADE, "websocket")
}

/// Answers a request for live reads.
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
    if request.method() != Method::GET || !has_token(headers, &CONNECTION, "upgrade") {
        return Err(wrong("this is not the handshake of a WebSocket: GET with Connection: Upgrade"));
    }
    if headers.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        return Err(
            wrong("the version of the WebSocket protocol must be 13").with_header("sec-websocket-version", "13")
        );
    }
    check_origin(shared, headers)?;
    let key = headers.get(SEC_WEBSOCKET_KEY).ok_or_else(|| wrong("Sec-WebSocket-Key is missing"))?;
    let accepted = HeaderValue::from_str(&derive_accept_key(key.as_bytes())).expect("base64 is ASCII");
    let (access, named) = (Access::of(headers), access::names_protocol(headers));
    let upgrade = request.extensions_mut().remove::<Upgrade>();
    let upgrade = upgrade.ok_or_else(|| Problem::new(problem::INTERNAL, "the connection cannot be upgraded"))?;
    let client = request.extensions().get::<Client>().copied().unwrap_or(Client::LOCAL);
    let session = Session::new(shared.clone(), served, access, client, upgrade.stopping.clone());
    let upgraded = hyper::upgrade::on(request);
    let config = config(shared);
    upgrade.set(Box::pin(async move {
        match upgraded.await {
            Ok(stream) => {
                let stream = TokioIo::new(stream);
                session.run(WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await).await;
            }
            Err(error) => tracing::debug!(%error, "a handshake came to nothing"),
        }
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

/// Where callers are believed on their word, a page of a stranger must not speak for the developer who looks at it.
fn check_origin(shared: &Shared, headers: &HeaderMap) -> Result<(), Problem> {
    let Some(origin) =
        headers.get(ORIGIN).filter(|_| matches!(shared.authentication, Authentication::Development { .. }))
    else {
        return Ok(());
    };
    let host = |text: &str| {
        let text = text.split_once("://").map_or(text, |(_, host)| host);
        let end = text.rfind(':').filter(|colon| text[*colon..].len() > 1 && !text.ends_with(']'));
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let origin = origin.to_str().map(host).unwrap_or_default();
    let own = headers.get(HOST).and_then(|value| value.to_str().ok()).map(host);
    let is_local = matches!(origin.as_str(), "localhost" | "127.0.0.1" | "[::1]");
    if is_local || own.as_deref() == Some(&*origin) {
        return Ok(());
    }
    Err(Problem::new(problem::FORBIDDEN, "without a token key only pages of this machine may connect"))
}

fn has_token(headers: &HeaderMap, name: &hyper::header::HeaderName, token: &str) -> bool {
    let lists = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).any(|part| part.trim().eq_ignore_ascii_case(token))
}
