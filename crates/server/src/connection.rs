//! Serves one connection, after a TLS handshake if configured: HTTP/2 if negotiated, otherwise HTTP/1 until the client closes, a timeout passes or the server stops, then live reads after
//! an upgrade.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use keyform_core::world::timeout;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::server::TlsStream;

use crate::api::live::Upgrade;
use crate::http2;
use crate::route;
use crate::shared::Shared;
use crate::stall::Stall;
use crate::stream::{Presence, Stream};
use crate::strict::Strict;
use crate::timer::Timer;
use crate::tls::{self, Tls};

/// Maximum read buffer of a connection.
const BUFFER_BYTES_MAX: usize = 256 * 1024;
/// Maximum size of a request head. Larger heads, or heads with more than 100 headers, get status 431.
pub(crate) const HEAD_BYTES_MAX: usize = 32 * 1024;

/// Serves the connection until it closes.
pub(crate) async fn serve(stream: TcpStream, shared: Arc<Shared>, mut stopping: watch::Receiver<bool>) {
    let peer = match stream.set_nodelay(true).and_then(|()| stream.peer_addr()) {
        Ok(address) => address.ip(),
        Err(error) => return tracing::debug!(%error, "the connection was lost"),
    };
    let stream = Stream::new(stream);
    let presence = stream.presence(shared.world.clone());
    let Some(tls) = &shared.tls else { return serve_http1(stream, peer, presence, shared, stopping).await };
    let shaken = shake(tls, stream, &shared, &mut stopping).await;
    let Some(stream) = shaken else { return };
    if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
        let stream = Stall::new(stream, shared.timeouts.write, shared.world.clone());
        http2::serve(stream, peer, shared, stopping).await;
    } else {
        serve_http1(stream, peer, presence, shared, stopping).await;
    }
}

/// Performs the handshake. A server that stops waits only for one in transit.
async fn shake(
    tls: &Tls,
    stream: Stream,
    shared: &Shared,
    stopping: &mut watch::Receiver<bool>,
) -> Option<TlsStream<Stream>> {
    let mut shaking = pin!(tls::shake(tls, stream, shared));
    tokio::select! {
        shaken = shaking.as_mut() => shaken,
        () = stopped(stopping) => timeout(&*shared.world, shared.timeouts.linger, shaking).await.unwrap_or_default(),
    }
}

async fn serve_http1<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    peer: IpAddr,
    presence: Presence,
    shared: Arc<Shared>,
    mut stopping: watch::Receiver<bool>,
) {
    let (timeouts, world) = (shared.timeouts, shared.world.clone());
    let upgrade = Upgrade::new(stopping.clone());
    let next = upgrade.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(upgrade.clone());
        let slot = route::identify(&shared, peer, &mut request);
        request.extensions_mut().insert(presence.clone());
        let shared = shared.clone();
        async move {
            match slot {
                Ok(_slot) => route::answer(shared, request).await,
                Err(_) => Ok(route::too_many_requests()),
            }
        }
    });
    let mut http = http1::Builder::new();
    // A client may shut down its sending side after the request and still wait for the answer.
    http.half_close(true);
    http.timer(Timer::new(world.clone())).header_read_timeout(timeouts.idle).max_buf_size(BUFFER_BYTES_MAX);
    http.max_header_size(HEAD_BYTES_MAX);
    let stream =
        TokioIo::new(Strict::new(Stall::new(stream, timeouts.write, world.clone()), next.is_set(), world.clone()));
    let mut connection = pin!(http.serve_connection(stream, service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        // Requests in transit are still answered; `Connection: close` then ends the connection.
        () = stopped(&mut stopping) => match timeout(&*world, timeouts.linger, connection.as_mut()).await {
            Ok(ended) => ended,
            Err(_) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        },
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    } else if let Some(next) = next.take() {
        next.await;
    }
}

/// Completes when the server stops.
pub(crate) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // A closed channel also means that the server stops.
    drop(stopping.wait_for(|stopping| *stopping).await);
}
