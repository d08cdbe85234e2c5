//! Separate port for `/metrics`, so that a collector needs no credentials and the public port exposes no metrics.
//!
//! It has its own thread and connection limit, so that an overloaded server can still be monitored.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use keyform_core::world::timeout;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::allowed_hosts::Hosts;
use crate::connection::HEAD_BYTES_MAX;
use crate::cors::Cors;
use crate::gate;
use crate::reply::{self, Reply};
use crate::route;
use crate::security::Security;
use crate::shared::Shared;
use crate::strict::Strict;
use crate::timer::Timer;

/// Concurrent connections on this port.
const CONNECTIONS_MAX: usize = 16;
/// Timeout for one request including its answer.
const REQUEST_TIME_MAX: Duration = Duration::from_secs(10);
/// Delay after an error such as too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// Listening socket for metrics, not served yet.
pub(crate) struct MetricsPort {
    pub(crate) listener: StdListener,
    pub(crate) address: SocketAddr,
    pub(crate) hosts: Hosts,
}

impl MetricsPort {
    /// Serves the port on its own thread until the server stops.
    pub(crate) fn spawn(self, shared: Arc<Shared>, stopping: watch::Receiver<bool>) -> io::Result<JoinHandle<usize>> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("keyform-metrics".to_owned()).spawn(move || {
            runtime.block_on(self.run(shared, stopping));
            // Collectors retry, so connections that are cut off do not count.
            0
        })
    }

    async fn run(self, shared: Arc<Shared>, mut stopping: watch::Receiver<bool>) {
        let listener = match TcpListener::from_std(self.listener) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "cannot listen on the metrics port"),
        };
        let hosts = Arc::new(self.hosts);
        let mut tasks = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept(), if tasks.len() < CONNECTIONS_MAX => match accepted {
                    Ok((stream, _)) => drop(tasks.spawn(serve(stream, shared.clone(), hosts.clone()))),
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection on the metrics port");
                        shared.world.sleep(PAUSE).await;
                    }
                },
                Some(_) = tasks.join_next(), if !tasks.is_empty() => {}
                _ = stopping.changed() => return,
            }
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>, hosts: Arc<Hosts>) {
    let world = shared.world.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let (shared, hosts) = (shared.clone(), hosts.clone());
        async move { Ok::<_, Infallible>(answer(&shared, &hosts, &request).await) }
    });
    let mut http = http1::Builder::new();
    http.half_close(true).keep_alive(false);
    http.timer(Timer::new(world.clone())).header_read_timeout(REQUEST_TIME_MAX).max_header_size(HEAD_BYTES_MAX);
    let stream = TokioIo::new(Strict::new(stream, Arc::new(AtomicBool::new(false)), world.clone()));
    match timeout(&*world, REQUEST_TIME_MAX, http.serve_connection(stream, service)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "a connection on the metrics port ended early"),
        Err(_) => tracing::debug!("a connection on the metrics port timed out"),
    }
}

async fn answer(shared: &Shared, hosts: &Hosts, request: &Request<Incoming>) -> Reply {
    // Metrics are read-only and a page of another site cannot read the response, so checking the host is sufficient.
    if let Err(refusal) = gate::check(hosts, &Cors::default(), Security::Full, request) {
        return refusal.reply();
    }
    match request.uri().path() {
        _ if !route::is_asking(request.method()) => reply::method_refusal("This port accepts GET only", "GET, HEAD"),
        "/metrics" => reply::figures(shared.metrics.page(shared)),
        "/healthz" => route::liveness(),
        "/readyz" => route::readiness(shared).await,
        _ => reply::refusal(StatusCode::NOT_FOUND, "This port serves only /metrics, /healthz and /readyz"),
    }
}
