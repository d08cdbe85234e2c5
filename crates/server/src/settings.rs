//! How a server behaves. The defaults suit a developer's machine.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use keyform_core::execute::BoxFuture;

use crate::api::{Models, TokenKeys};
use crate::credentials::Credentials;
use crate::metrics::Figure;

/// Where the time for signatures comes from.
pub type Clock = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// What a store tells about itself.
pub trait Probe: Send + Sync {
    /// Whether the store takes operations; the text of a refusal says why not.
    ///
    /// # Errors
    /// The store refuses operations.
    fn ready(&self) -> Result<(), String> {
        Ok(())
    }

    /// The same for a store that has to be asked. It answers within a second, so that a probe of the readiness does not time out itself.
    fn check(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(std::future::ready(self.ready()))
    }

    /// Figures for `/metrics`.
    fn figures(&self) -> Vec<Figure> {
        Vec::new()
    }
}

/// Everything that can be set.
#[derive(Clone)]
pub struct Settings {
    /// The address or the name to listen on.
    pub host: String,
    /// The port; zero takes a free one.
    pub port: u16,
    /// Host names that requests may address the server by, besides those of loopback and `host`.
    pub allowed_hosts: Vec<String>,
    /// A port of its own for `/metrics`, which then needs no credentials.
    pub metrics_address: Option<MetricsAddress>,
    /// The region that signatures must be made for and that the endpoint calls itself by.
    pub region: String,
    /// The access keys that may use the server. [`Security`](crate::Security) says what follows if there are none.
    pub credentials: Credentials,
    /// How many threads serve connections.
    pub workers: usize,
    /// The limits.
    pub limits: Limits,
    /// The longest waits.
    pub timeouts: Timeouts,
    /// Where the time for signatures and tokens comes from.
    pub clock: Clock,
    /// Whether operations are taken at `POST /`, so that any AWS SDK can talk to the store. A server of models alone takes none.
    pub operations: bool,
    /// The models that are served. Those put in later are served too.
    pub models: Models,
    /// The keys that verify the tokens of their callers. [`Security`](crate::Security) says what follows if there are none.
    pub token_keys: TokenKeys,
    /// How live reads behave.
    pub live: keyform_live::read::Settings,
}

/// The address that metrics are served on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetricsAddress {
    /// The address or the name to listen on.
    pub host: String,
    /// The port; zero takes a free one.
    pub port: u16,
}

/// How much is accepted.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest body, before and after unpacking.
    pub body_bytes_max: usize,
    /// The bytes of bodies of more than a quarter of a megabyte that are in memory at a time, as sent and as unpacked; others wait. What a
    /// request makes of its body may be several times as large.
    pub large_bodies_bytes_max: usize,
    /// The most connections at a time. Fewer are taken if the limit on open files leaves no room for more.
    pub connections_max: usize,
    /// The most connections of one client address; of IPv6, of one /64 network. `None`: 512, and no such limit on loopback.
    pub connections_per_address_max: Option<usize>,
    /// The size from which answers are packed for clients that ask for it.
    pub gzip_bytes_min: usize,
    /// The most reads that one connection follows.
    pub live_subscriptions_max: usize,
    /// How much may wait for a client that follows reads before it counts as too slow.
    pub live_buffer_bytes: usize,
    /// The largest message of such a client.
    pub live_message_bytes_max: usize,
}

/// How long is waited.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For the next request on a connection, and for its head to be complete.
    pub idle: Duration,
    /// For a body to be complete.
    pub body: Duration,
    /// For a client to take a piece of an answer.
    pub write: Duration,
    /// For running requests when the server stops.
    pub drain: Duration,
    /// For requests that are on their way on idle connections when the server stops.
    pub linger: Duration,
    /// For a flow of an application. It is dropped then, at the point where it waits: what it has written stays.
    pub flow: Duration,
    /// Between two pings on a connection that follows reads; one that was not answered by the next ends it.
    pub live_ping: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            host: "127.0.0.1".to_owned(),
            port: 8000,
            allowed_hosts: Vec::new(),
            metrics_address: None,
            region: "us-east-1".to_owned(),
            credentials: Credentials::default(),
            workers: default_workers(),
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            clock: Arc::new(SystemTime::now),
            operations: true,
            models: Models::default(),
            token_keys: TokenKeys::default(),
            live: keyform_live::read::Settings::default(),
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
