//! HTTP server for a database and for models: settings, access keys, limits.

pub use keyform_server::{
    CorsSettings, Credentials, CredentialsError, Limits, MetricsAddress, Models, Running, Served, Server,
    ServerSettings, StartError, Timeouts, TlsError, TlsFiles,
};
