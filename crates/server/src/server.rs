//! Startup and shutdown of the server: ports and worker threads.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::thread::JoinHandle;

use keyform_core::Execute;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::sync::{mpsc, watch};

use crate::accept::Acceptor;
use crate::allowed_hosts::{HostName, Hosts};
use crate::cors::Cors;
use crate::descriptors;
use crate::error::StartError;
use crate::metrics_port::MetricsPort;
use crate::proxies::Proxies;
use crate::security::Security;
use crate::settings::{MetricsAddress, Probe, ServerSettings};
use crate::shared::{Front, Shared};
use crate::tls::Tls;
use crate::worker::{self, Worker};

/// Listen backlog: connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// HTTP endpoint with an open port that is not serving yet.
///
/// ```no_run
/// use std::sync::Arc;
/// use keyform_server::{Server, ServerSettings};
///
/// # fn run(database: Arc<dyn keyform_core::Execute>) -> Result<(), keyform_server::StartError> {
/// let server = Server::bind(ServerSettings { port: 0, ..ServerSettings::default() })?;
/// let running = server.start(database, None)?;
/// println!("listening on {}", running.url());
/// running.stop();
/// # Ok(())
/// # }
/// ```
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    front: Front,
    metrics: Option<MetricsPort>,
    settings: ServerSettings,
}

impl Server {
    /// Opens the port. Connections are queued until the server is started.
    ///
    /// # Errors
    /// The port is in use, the host is unknown, the certificate cannot be used, or the [`Security`] mode does not permit the configuration: a public
    /// address in development mode, or explicitly requested models that could not be called.
    pub fn bind(settings: ServerSettings) -> Result<Self, StartError> {
        let allowed = allowed_hosts(&settings)?;
        let security = Security::of(&settings);
        let cors = Cors::new(&settings, security)?;
        let proxies = Proxies::new(&settings.trusted_proxies)?;
        let tls = settings.tls.clone().map(Tls::load).transpose().map_err(StartError::Tls)?;
        let (listener, address) = open(&settings.host, settings.port, |address| security.check(&settings, address))?;
        let hosts = Hosts::new(&settings.host, &allowed, !security.has_credentials() && address.ip().is_loopback());
        let metrics =
            settings.metrics_address.as_ref().map(|address| metrics_port(address, &allowed, security)).transpose()?;
        Ok(Self { listener, address, front: Front { hosts, cors, proxies, tls }, metrics, settings })
    }

    /// Returns the bound address with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves the port on its own threads until the returned [`Running`] is stopped or dropped. `probe` reports the
    /// health and metrics of the store.
    ///
    /// # Errors
    /// A thread cannot be created.
    pub fn start(self, execute: Arc<dyn Execute>, probe: Option<Arc<dyn Probe>>) -> Result<Running, StartError> {
        let Self { listener, address, front, metrics, mut settings } = self;
        settings.limits.connections_max = descriptors::connections_max(settings.limits.connections_max);
        let workers = settings.workers.max(1);
        let shared = Arc::new(Shared::new(settings, front, execute, probe));
        let (stop, stopping) = watch::channel(false);
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..workers).map(|_| mpsc::unbounded_channel()).unzip();
        let mut acceptor = Some(Acceptor::new(listener, senders, shared.clone()));
        let threads = receivers.into_iter().enumerate().map(|(number, connections)| {
            let worker = Worker { connections, stopping: stopping.clone(), shared: shared.clone() };
            worker::spawn(number, worker, acceptor.take())
        });
        let mut threads: Vec<_> = threads.collect::<io::Result<_>>().map_err(StartError::io("start a thread"))?;
        let metrics_address = metrics.as_ref().map(|metrics| metrics.address);
        if let Some(metrics) = metrics {
            let thread = metrics.spawn(shared.clone(), stopping);
            threads.push(thread.map_err(StartError::io("start a thread"))?);
        }
        Ok(Running { address, metrics_address, stop, threads, shared })
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Running server. Dropping it stops the server without waiting.
pub struct Running {
    address: SocketAddr,
    metrics_address: Option<SocketAddr>,
    stop: watch::Sender<bool>,
    threads: Vec<JoinHandle<usize>>,
    shared: Arc<Shared>,
}

impl Running {
    /// Returns the bound address with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL for clients; an unspecified address is replaced by loopback.
    pub fn url(&self) -> String {
        url_of(self.scheme(), self.address)
    }

    /// Returns the URL of the metrics, if they have a separate port.
    pub fn metrics_url(&self) -> Option<String> {
        self.metrics_address.map(|address| format!("{}/metrics", url_of("http", address)))
    }

    /// Loads the certificate and its key again, as the server does by itself when the files change. Logs a warning and
    /// keeps the current pair if the new one cannot be used. Does nothing without TLS.
    pub fn reload_certificate(&self) {
        if let Some(tls) = &self.shared.tls {
            tls.reload();
        }
    }

    fn scheme(&self) -> &'static str {
        if self.shared.tls.is_some() { "https" } else { "http" }
    }

    /// Returns whether the server accepts DynamoDB operations at `POST /`.
    pub fn takes_operations(&self) -> bool {
        self.shared.operations
    }

    /// Returns the security mode.
    pub fn security(&self) -> Security {
        self.shared.security
    }

    /// Stops accepting, waits for running requests up to the drain timeout, and returns the number of connections that
    /// were cut off. Blocks the calling thread.
    pub fn stop(mut self) -> usize {
        self.begin();
        self.threads.drain(..).map(|thread| thread.join().unwrap_or_default()).sum()
    }

    fn begin(&self) {
        self.shared.begin_stopping();
        self.stop.send_replace(true);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.begin();
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}

fn url_of(scheme: &str, mut address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(ref mut v4) if v4.ip().is_unspecified() => v4.set_ip(std::net::Ipv4Addr::LOCALHOST),
        SocketAddr::V6(ref mut v6) if v6.ip().is_unspecified() => v6.set_ip(std::net::Ipv6Addr::LOCALHOST),
        _ => {}
    }
    format!("{scheme}://{address}")
}

fn allowed_hosts(settings: &ServerSettings) -> Result<Vec<HostName>, StartError> {
    let parsed =
        |name: &String| HostName::of_setting(name).ok_or_else(|| StartError::AllowedHost { name: name.clone() });
    settings.allowed_hosts.iter().map(parsed).collect()
}

/// Opens the port for metrics. The operator decides who can reach it, so any address is allowed.
fn metrics_port(wanted: &MetricsAddress, allowed: &[HostName], security: Security) -> Result<MetricsPort, StartError> {
    let (listener, address) = open(&wanted.host, wanted.port, |_| Ok(()))?;
    // Collectors use the machine's address, or on a published server the name that a container network gives it. On
    // loopback, and on a developer's machine, which runs a browser, another name can come from a foreign web page.
    let hosts = match (address.ip().is_loopback(), security) {
        (true, _) => Hosts::new(&wanted.host, allowed, true),
        (false, Security::Development) => Hosts::addresses(&wanted.host, allowed),
        (false, Security::SignedOperations | Security::TokenCalls | Security::Full) => {
            Hosts::new(&wanted.host, &[], false)
        }
    };
    Ok(MetricsPort { listener, address, hosts })
}

/// Listens on the first available address of a host; `check` may reject addresses.
fn open(
    host: &str,
    port: u16,
    check: impl Fn(SocketAddr) -> Result<(), StartError>,
) -> Result<(TcpListener, SocketAddr), StartError> {
    let unknown = || StartError::UnknownHost { host: host.to_owned() };
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let addresses = (bare, port).to_socket_addrs().map_err(|_| unknown())?;
    let mut failure = unknown();
    for address in addresses {
        check(address)?;
        match listen(address) {
            Ok(listener) => {
                let address = listener.local_addr().map_err(StartError::io("read the address of the port"))?;
                return Ok((listener, address));
            }
            Err(error) => failure = refusal(address, error),
        }
    }
    Err(failure)
}

/// Listens with a larger backlog than the standard library's 128; a longer burst would be delayed by a second.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Allows binding while old connections are in TIME_WAIT. On Windows the option would allow port hijacking instead.
    socket.set_reuse_address(cfg!(unix))?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

fn refusal(address: SocketAddr, error: io::Error) -> StartError {
    match error.kind() {
        io::ErrorKind::AddrInUse => StartError::PortInUse { address },
        _ => StartError::Io { action: format!("listen on {address}"), source: error },
    }
}
