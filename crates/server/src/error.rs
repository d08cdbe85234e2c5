//! Reasons why a server did not start; the messages include the remedy.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use crate::tls::TlsError;

/// Reason why a server did not start.
#[derive(Debug)]
pub enum StartError {
    /// Others can reach the address and no credentials are configured.
    Unprotected {
        /// Requested listen address.
        address: SocketAddr,
    },
    /// Others can reach the address, models are served, and no key to verify tokens is configured.
    WithoutTokens {
        /// Requested listen address.
        address: SocketAddr,
    },
    /// Credentials are configured and models were requested, but there is no key to verify tokens.
    ModelsClosed,
    /// An entry of `allowed_hosts` is not a host name.
    AllowedHost {
        /// The rejected entry, as configured.
        name: String,
    },
    /// An entry of [`CorsSettings::origins`](crate::CorsSettings::origins) is not an origin.
    CorsOrigin {
        /// The rejected entry, as configured.
        text: String,
    },
    /// CORS credentials are allowed for all origins, or for none.
    CorsCredentials,
    /// All origins are allowed in development mode.
    CorsDevelopment,
    /// An entry of `trusted_proxies` is not a network.
    TrustedProxy {
        /// The rejected entry, as configured.
        text: String,
    },
    /// The certificate or its key cannot be used.
    Tls(TlsError),
    /// Another process uses the port.
    PortInUse {
        /// Requested listen address.
        address: SocketAddr,
    },
    /// The host name does not resolve.
    UnknownHost {
        /// Host name from the settings.
        host: String,
    },
    /// A system call failed.
    Io {
        /// Failed operation, as a verb phrase.
        action: String,
        /// Error of the operating system.
        source: io::Error,
    },
}

impl StartError {
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self::Io { action, source }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unprotected { address } => write!(
                f,
                "{address} can be reached from other machines and no credentials are configured: run `keyform credentials add` first, or listen on 127.0.0.1"
            ),
            Self::WithoutTokens { address } => write!(
                f,
                "{address} can be reached from other machines and there is no key to verify the tokens of callers: configure one, or listen on 127.0.0.1"
            ),
            Self::ModelsClosed => f.write_str(
                "credentials are configured, but no key to verify the tokens of callers, so the models could not be called: configure one, or serve no models",
            ),
            Self::AllowedHost { name } => {
                write!(f, "{name:?} is not a host name: an allowed host is a name or an address without a port, such as keyform.test")
            }
            Self::CorsOrigin { text } => write!(
                f,
                "{text:?} is not an origin: a CORS origin is a scheme, a host and a port if it is not the default, such as https://app.example.com, https://*.example.com or http://localhost:5173, without a path"
            ),
            Self::CorsCredentials => {
                f.write_str("CORS credentials need a list of origins, without `*`: name the origins of your web pages")
            }
            Self::CorsDevelopment => f.write_str(
                "the CORS origin `*` would let every web page use a server in development mode: name the origins of your web pages, or configure a token key",
            ),
            Self::TrustedProxy { text } => write!(
                f,
                "{text:?} is not a network: a trusted proxy is a network or an address, such as 10.0.0.0/8 or 192.0.2.7"
            ),
            Self::Tls(error) => error.fmt(f),
            Self::PortInUse { address } => write!(
                f,
                "port {} of {} is in use: stop the program that has it, or choose another port (0 takes a free one)",
                address.port(),
                address.ip()
            ),
            Self::UnknownHost { host } => {
                write!(f, "{host:?} is not an address of this machine: use 127.0.0.1, an address or a host name")
            }
            Self::Io { action, source } => write!(f, "cannot {action}: {source}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Tls(error) => error.source(),
            _ => None,
        }
    }
}
