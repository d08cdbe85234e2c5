//! Settings of a server. The defaults suit a developer's machine.

use std::sync::Arc;
use std::time::Duration;

use keyform_core::World;
use keyform_core::execute::BoxFuture;
use keyform_flow::TokenKeys;

use crate::api::Models;
use crate::cors::CorsSettings;
use crate::credentials::Credentials;
use crate::identity::Issuer;
use crate::metrics::Figure;
use crate::tls::TlsFiles;

/// Health and metrics of a store.
pub trait Probe: Send + Sync {
    /// Returns whether the store accepts operations, from its current state.
    ///
    /// # Errors
    /// The reason why the store refuses operations.
    fn ready(&self) -> Result<(), String> {
        Ok(())
    }

    /// Like [`Probe::ready`], for a store that has to be asked. Must complete within a second, so that a readiness
    /// probe does not time out.
    fn check(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(std::future::ready(self.ready()))
    }

    /// Returns the store's metrics for `/metrics`.
    fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}

/// Settings of a server.
#[derive(Clone)]
pub struct ServerSettings {
    /// Address or host name to listen on.
    pub host: String,
    /// Port; zero selects a free one.
    pub port: u16,
    /// Host names that requests may use, in addition to loopback names and `host`.
    pub allowed_hosts: Vec<String>,
    /// Web pages of other origins that may call the model API.
    pub cors: CorsSettings,
    /// Networks (`10.0.0.0/8`) and addresses of proxies whose `X-Forwarded-For`, `X-Forwarded-Proto` and `Forwarded`
    /// headers name the client.
    pub trusted_proxies: Vec<String>,
    /// Certificate and key for HTTPS; `None` serves plain HTTP. The server follows changes of the files.
    pub tls: Option<TlsFiles>,
    /// Separate address for `/metrics`, which then needs no credentials.
    pub metrics_address: Option<MetricsAddress>,
    /// Region that signatures must be made for and that the health message names.
    pub region: String,
    /// Access keys that may use the server. [`Security`](crate::Security) documents the effect of an empty set.
    pub credentials: Credentials,
    /// Number of threads that serve connections.
    pub workers: usize,
    /// Limits on sizes and connections.
    pub limits: Limits,
    /// Timeouts of all waits.
    pub timeouts: Timeouts,
    /// Clock for signatures, tokens and timeouts; the real one by default.
    pub world: Arc<dyn World>,
    /// Accepts DynamoDB operations at `POST /`. Off for a server of models only.
    pub operations: bool,
    /// Served models. Models added after the start are served too.
    pub models: Models,
    /// Keys that verify callers' tokens. [`Security`](crate::Security) documents the effect of an empty set.
    pub token_keys: TokenKeys,
    /// OpenID providers whose tokens are accepted, in addition to tokens that `token_keys` verify.
    pub issuers: Vec<Issuer>,
    /// Settings of live reads.
    pub live: keyform_live::read::LiveSettings,
}

/// Listen address of the metrics port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsAddress {
    /// Address or host name to listen on.
    pub host: String,
    /// Port; zero selects a free one.
    pub port: u16,
}

/// Limits on sizes and connections.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum body size, before and after decompression.
    pub body_bytes_max: usize,
    /// Memory for bodies above 256 KB, compressed and decompressed; further bodies wait. Decoding a body may need
    /// several times its size in addition.
    pub large_bodies_bytes_max: usize,
    /// Maximum number of connections; reduced if the limit on open files leaves no room.
    pub connections_max: usize,
    /// Maximum number of connections per client address, or per /64 network for IPv6. `None`: 512, and unlimited for
    /// loopback.
    pub connections_per_address_max: Option<usize>,
    /// Minimum size of answers that are compressed for clients that accept gzip.
    pub gzip_bytes_min: usize,
    /// Maximum number of live reads per connection.
    pub live_subscriptions_max: usize,
    /// Bytes that may be queued for a live-read client before it is disconnected as too slow.
    pub live_buffer_bytes: usize,
    /// Maximum message size of a live-read client.
    pub live_message_bytes_max: usize,
}

/// Timeouts of all waits.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Wait for a complete TLS handshake.
    pub handshake: Duration,
    /// Wait for the next request on a connection, and for its complete head.
    pub idle: Duration,
    /// Wait for a complete body.
    pub body: Duration,
    /// Wait for a client to accept a part of an answer.
    pub write: Duration,
    /// Wait for running requests during shutdown.
    pub drain: Duration,
    /// Wait for requests in transit on idle connections during shutdown.
    pub linger: Duration,
    /// Deadline of a flow. The flow is dropped at its current await point; applied writes stay applied.
    pub flow: Duration,
    /// Interval of pings on a live-read connection. A ping that is not answered before the next one ends the
    /// connection.
    pub live_ping: Duration,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 8000,
            allowed_hosts: Vec::new(),
            cors: CorsSettings::default(),
            trusted_proxies: Vec::new(),
            tls: None,
            metrics_address: None,
            region: "us-east-1".to_owned(),
            credentials: Credentials::default(),
            workers: default_workers(),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            world: keyform_world::system(),
            operations: true,
            models: Models::default(),
            token_keys: TokenKeys::default(),
            issuers: Vec::new(),
            live: keyform_live::read::LiveSettings::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: 16 * 1024 * 1024,
            large_bodies_bytes_max: 32 * 1024 * 1024,
            connections_max: 4096,
            connections_per_address_max: None,
            gzip_bytes_min: 1024,
            live_subscriptions_max: 100,
            live_buffer_bytes: 1024 * 1024,
            live_message_bytes_max: 64 * 1024,
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            body: Duration::from_secs(30),
            write: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            linger: Duration::from_millis(100),
            flow: Duration::from_secs(30),
            live_ping: Duration::from_secs(20),
        }
    }
}

fn default_workers() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).min(8)
}
