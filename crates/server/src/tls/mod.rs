//! TLS: certificates, their renewal, and the handshake.
//!
//! 1. `certificate` loads a certificate chain and its key, and rejects a pair that does not fit.
//! 2. `renewal` replaces the pair while the server runs: when the files change, and on request. Open connections keep
//!    the keys of their handshake.
//! 3. `handshake` turns an accepted connection into a TLS stream and negotiates HTTP/2 or HTTP/1.1 (ALPN).

mod certificate;
mod handshake;
mod renewal;

use std::path::PathBuf;

pub use certificate::TlsError;
pub(crate) use handshake::shake;
pub(crate) use renewal::{Tls, watch};

/// Files of the certificate chain and its private key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate of the server, followed by its intermediate certificates.
    pub certificate: PathBuf,
    /// Private key (PKCS #8, PKCS #1 or SEC 1). Other users must not be able to read the file.
    pub key: PathBuf,
}
