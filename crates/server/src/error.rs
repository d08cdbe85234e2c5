//! Why a server did not start, in words that say what to do next.

use std::fmt;
use std::io;
use std::net::SocketAddr;

/// Why a server did not start.
#[derive(Debug)]
pub enum StartError {
    /// The address can be reached by others and no credentials are configured.
    Unprotected {
        /// The address.
        address: SocketAddr,
    },
    /// The address can be reached by others, models are served, and there is no key to verify the tokens of callers.
    WithoutTokens {
        /// The address.
        address: SocketAddr,
    },
    /// Credentials are configured, models were asked for, and there is no key to verify the tokens of callers.
    ModelsClosed,
    /// A name in `allowed_hosts` is no host name.
    AllowedHost {
        /// The name.
        name: String,
    },
    /// The port is taken.
    PortInUse {
        /// The address.
        address: SocketAddr,
    },
    /// The name of the host is not known here.
    UnknownHost {
        /// The name.
        host: String,
    },
    /// The operating system refused.
    Io {
        /// What was being done.
        action: String,
        /// Its error.
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
                "{address} can be reached from other machines and there is no key to verify the tokens of callers: pass --jwt-key-file, or listen on 127.0.0.1"
            ),
            Self::ModelsClosed => f.write_str(
                "credentials are configured, but no key to verify the tokens of callers, so the models could not be called: pass --jwt-key-file, or serve no models",
            ),
            Self::AllowedHost { name } => {
                write!(f, "{name:?} is not a host name: --allowed-host takes names and addresses without a port, such as keyform.test")
            }
            Self::PortInUse { address } => write!(
                f,
                "port {} of {} is in use: stop the program that has it, or choose another port with --port (0 takes a free one)",
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
            _ => None,
        }
    }
}
