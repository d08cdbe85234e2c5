//! HTTP server for a database and for models: settings, access keys, limits.

pub use keyform_server::{
    Credentials, CredentialsError, Difference, Figure, FigureKind, Limits, MetricsAddress, Models, Probe, Running,
    Security, Served, Server, ServerSettings, StartError, Timeouts,
};
