//! HTTP server: a DynamoDB-compatible endpoint for any AWS SDK, and the HTTP API of models. This crate handles HTTP,
//! signatures, tokens and metrics; the store behind it is an [`Execute`](keyform_core::Execute).
//!
//! Life of a request:
//! 1. [`Server::bind`] opens the port and [`Server::start`] starts the workers, each a thread with its own runtime
//!    (`worker`).
//! 2. `accept` hands each connection to a worker within the limits of `admission` and [`descriptors`]; `overflow`
//!    refuses the others. `connection` serves HTTP on it, after a handshake of `tls` and over `http2` if configured and
//!    negotiated, with a timeout for every wait. `proxies` finds the client behind a proxy. `strict` and `framing` reject
//!    requests whose end is ambiguous.
//! 3. `gate` rejects foreign hosts and foreign web pages, except those that `cors` allows; [`Security`] determines the required credentials. `route`
//!    sends `POST /` to the `endpoint` and answers the paths for probes and metrics.
//! 4. `body` reads and decompresses the body; [`Credentials`] and `sigv4` authenticate the request.
//! 5. `endpoint` decodes the operation, executes it and encodes the answer; `work` selects the thread.
//! 6. `api` serves the paths below `/v1`: the patterns of [`Models`] and the flows of [`keyform_flow`], for callers with
//!    tokens.
//! 7. `reply` adds the headers that SDKs expect; `observe` counts and logs the request.

#![warn(unreachable_pub)]

mod accept;
mod admission;
mod allowed_hosts;
mod api;
mod body;
mod connection;
mod cors;
mod credentials;
pub mod descriptors;
mod endpoint;
mod error;
mod framing;
mod gate;
mod http2;
mod identity;
mod metrics;
mod metrics_port;
mod observe;
mod open_streams;
mod overflow;
mod proxies;
mod queue;
mod reply;
mod request_id;
mod route;
mod security;
mod seldom;
mod server;
mod settings;
mod shared;
mod sigv4;
mod stall;
mod stream;
mod strict;
mod timer;
mod tls;
mod work;
mod worker;

pub use api::{Difference, Models, Served, openapi};
pub use cors::CorsSettings;
pub use credentials::{Credentials, CredentialsError, generate as generate_credentials};
pub use error::StartError;
pub use identity::{Issuer, IssuerError};
pub use metrics::{Figure, FigureKind};
pub use security::Security;
pub use server::{Running, Server};
pub use settings::{Limits, MetricsAddress, Probe, ServerSettings, Timeouts};
pub use tls::{TlsError, TlsFiles};
