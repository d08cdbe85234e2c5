//! Serves HTTP/2 on a TLS connection.
//!
//! The `h2` crate rejects what HTTP/2 forbids: `Connection`, `Transfer-Encoding` and `Upgrade` headers, upper-case names,
//! a `content-length` that differs from the data, floods of CONTINUATION frames and of resets. This module adds the
//! limits that HTTP/1 connections have:
//!
//! | limit | value |
//! |---|---|
//! | requests at a time | [`STREAMS_MAX`] |
//! | head of a request | [`HEAD_BYTES_MAX`] and [`HEADERS_MAX`] headers: 431 |
//! | bodies in memory | [`BODIES_BYTES_MAX`] per connection, and the budget of large bodies |
//! | idle connection | the idle timeout, then GOAWAY |
//! | response that the client does not read | the write timeout, then the connection is closed |
//!
//! `:authority` takes the place of `Host`: a request with both must name one host (`gate`).

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HOST};
use hyper::http::HeaderValue;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioExecutor, TokioIo};
use keyform_core::world::timeout;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;

use crate::body::{Budget, ConnectionBudget};
use crate::connection::{HEAD_BYTES_MAX, stopped};
use crate::open_streams::{OpenStream, OpenStreams, State};
use crate::reply::{self, Reply};
use crate::route;
use crate::shared::Shared;
use crate::timer::Timer;

/// Maximum number of concurrent requests of a connection.
const STREAMS_MAX: u32 = 32;
/// Flow-control window of a request body.
const STREAM_WINDOW_BYTES: u32 = 64 * 1024;
/// Window of a connection: bodies that wait for memory must not block the others.
const CONNECTION_WINDOW_BYTES: u32 = STREAMS_MAX * STREAM_WINDOW_BYTES;
/// Memory for the bodies of up to 256 KB of one connection; larger ones take their share of the server's budget as well.
const BODIES_BYTES_MAX: usize = 1024 * 1024;
/// Maximum number of headers of a request, as in HTTP/1.
const HEADERS_MAX: usize = 100;
/// Requests that a client may cancel before the server has accepted them (rapid reset, CVE-2023-44487).
const PENDING_RESETS_MAX: usize = 20;
/// Streams that the server may reset because of errors of the client, during the life of a connection.
const ERROR_RESETS_MAX: usize = 256;
/// Interval of pings, and the time for their answers.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Size of the pieces in which a response is handed over. Progress is measured in pieces.
const PIECE_BYTES: usize = 16 * 1024;

/// Serves the connection until it closes.
pub(crate) async fn serve<S>(stream: S, peer: IpAddr, shared: Arc<Shared>, mut stopping: watch::Receiver<bool>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (timeouts, world) = (shared.timeouts, shared.world.clone());
    let streams = Arc::new(OpenStreams::new(world.clone()));
    let bodies = ConnectionBudget(Arc::new(Budget::of(BODIES_BYTES_MAX)));
    let all = streams.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        let slot = route::identify(&shared, peer, &mut request);
        request.extensions_mut().insert(bodies.clone());
        let (shared, stream) = (shared.clone(), all.open());
        async move {
            let reply = match slot {
                Ok(_slot) => answer(shared, request).await,
                Err(_) => route::too_many_requests(),
            };
            Ok::<_, Infallible>(sent(reply, stream))
        }
    });
    let http = builder(Timer::new(world.clone()));
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service));
    tokio::select! {
        ended = connection.as_mut() => return report(ended),
        () = streams.watch(timeouts.idle, timeouts.write) => {}
        () = stopped(&mut stopping) => {}
    }
    connection.as_mut().graceful_shutdown();
    // Requests in progress are still answered. The drain timeout of the worker ends them while the server stops.
    loop {
        match timeout(&*world, timeouts.write, connection.as_mut()).await {
            Ok(ended) => return report(ended),
            Err(_) if streams.state(timeouts.idle, timeouts.write) == State::Busy => {}
            Err(_) => {
                return tracing::debug!("a connection was closed: idle, or the client does not read its response");
            }
        }
    }
}

fn report(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

fn builder(timer: Timer) -> http2::Builder<TokioExecutor> {
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(timer)
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).expect("the limit is small"))
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_pending_accept_reset_streams(PENDING_RESETS_MAX)
        .max_local_error_reset_streams(ERROR_RESETS_MAX)
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_EVERY);
    http
}

async fn answer(shared: Arc<Shared>, mut request: Request<Incoming>) -> Reply {
    if request.headers().len() > HEADERS_MAX {
        let advice = format!("The request has more than {HEADERS_MAX} headers: send fewer");
        return reply::refusal(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, &advice);
    }
    // Signatures cover `host`, which clients of HTTP/2 send as `:authority`.
    let authority = request.uri().authority().map(|authority| HeaderValue::from_str(authority.as_str()));
    if let (Some(Ok(host)), false) = (authority, request.headers().contains_key(HOST)) {
        request.headers_mut().insert(HOST, host);
    }
    let Ok(reply) = route::answer(shared, request).await;
    reply
}

/// Prepares a response for HTTP/2: without `Connection`, and in pieces that show the progress of the client.
fn sent(reply: Reply, mut stream: OpenStream) -> Response<Pieces> {
    let (mut head, body) = reply.into_parts();
    head.headers.remove(CONNECTION);
    stream.progress();
    Response::from_parts(head, Pieces { body: Box::pin(body), rest: Bytes::new(), stream })
}

/// Body of a response in pieces.
struct Pieces {
    body: Pin<Box<http_body_util::Full<Bytes>>>,
    rest: Bytes,
    stream: OpenStream,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        this.stream.progress();
        if this.rest.is_empty() {
            match this.body.as_mut().poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => this.rest = frame.into_data().unwrap_or_default(),
                other => return other,
            }
        }
        let piece = this.rest.split_to(this.rest.len().min(PIECE_BYTES));
        Poll::Ready((!piece.is_empty()).then(|| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        SizeHint::with_exact(rest + self.body.size_hint().exact().unwrap_or_default())
    }
}
