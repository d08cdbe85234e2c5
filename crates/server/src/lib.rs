//! The HTTP endpoint that any AWS SDK can talk to, and the API of models. It knows HTTP, signatures, tokens and figures; it does not know how a store
//! keeps its data.
//!
//! The life of a request through this crate:
//! 1. [`Server::bind`] opens the port and [`Server::start`] starts the workers, each a thread with a runtime of its own (`worker`).
//! 2. `accept` gives each connection to a worker, as far as `admission` and the [`descriptors`] allow; `overflow` refuses the others. `connection`
//!    speaks HTTP on it, with a limit for every wait. `strict` and `framing` refuse requests whose end is ambiguous.
//! 3. `gate` refuses foreign hosts and web pages of strangers; [`Security`] says which proofs are asked for. `route` sends `POST /` to the `endpoint`, and answers the paths for probes and figures.
//! 4. `body` reads and unpacks the body, [`Credentials`] and `sigv4` decide whether the caller may go on.
//! 5. `endpoint` lets the wire read the operation, gives it to the [`Execute`](keyform_core::Execute), and lets the wire
//!    write the answer; `work` decides on which thread.
//! 6. `api` answers what is below `/v1`: the patterns of [`Models`], for callers with tokens.
//! 7. `reply` adds the headers that SDKs look at, and `observe` counts and logs what happened.

mod accept;
mod admission;
mod api;
mod body;
mod client;
mod connection;
mod credentials;
pub mod descriptors;
mod endpoint;
mod error;
mod framing;
mod gate;
mod host;
mod metrics;
mod metrics_port;
mod observe;
mod overflow;
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
mod throttle;
mod work;
mod worker;

pub use api::{Difference, Flow, FlowCall, FlowError, Models, Served, Tables, TokenKeys, TokenKeysError, openapi};
pub use client::Client;
pub use credentials::{Credentials, CredentialsError, generate as generate_credentials};
pub use error::StartError;
pub use metrics::{Figure, FigureKind};
pub use security::Security;
pub use server::{Running, Server};
pub use settings::{Clock, Limits, MetricsAddress, Probe, Settings, Timeouts};
pub use throttle::{Attempts, Rate, Stopwatch, Throttle, Throttled};
