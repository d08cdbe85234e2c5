//! Loads a certificate chain and its private key.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use keyform_world::exposed_mode;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use zeroize::Zeroizing;

use super::TlsFiles;

/// Reason why a certificate and its key cannot be used.
#[derive(Debug)]
pub enum TlsError {
    /// A file cannot be read.
    Io {
        /// Path of the file.
        file: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Other users can read the key.
    Exposed {
        /// Path of the key file.
        file: PathBuf,
        /// Permissions of the file.
        mode: u32,
    },
    /// The file contains no certificate in PEM.
    NoCertificate {
        /// Path of the certificate file.
        file: PathBuf,
    },
    /// The file contains no private key in PEM.
    NoKey {
        /// Path of the key file.
        file: PathBuf,
    },
    /// The key is not the one of the certificate, or its kind is not supported.
    Mismatch {
        /// Path of the certificate file.
        certificate: PathBuf,
        /// Path of the key file.
        key: PathBuf,
        /// Reason given by the TLS library.
        reason: String,
    },
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { file, source } => write!(f, "cannot read {}: {source}", file.display()),
            Self::Exposed { file, mode } => write!(
                f,
                "the TLS key {} can be read by other users (mode {mode:03o}): run chmod 600 {}",
                file.display(),
                file.display()
            ),
            Self::NoCertificate { file } => write!(
                f,
                "{} contains no certificate: it must be PEM, with lines such as -----BEGIN CERTIFICATE-----",
                file.display()
            ),
            Self::NoKey { file } => write!(
                f,
                "{} contains no private key: it must be PEM, with lines such as -----BEGIN PRIVATE KEY-----",
                file.display()
            ),
            Self::Mismatch { certificate, key, reason } => {
                write!(f, "the key {} does not fit the certificate {}: {reason}", key.display(), certificate.display())
            }
        }
    }
}

impl std::error::Error for TlsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Exposed { .. } | Self::NoCertificate { .. } | Self::NoKey { .. } | Self::Mismatch { .. } => None,
        }
    }
}

/// Loads the pair.
pub(super) fn load(files: &TlsFiles) -> Result<CertifiedKey, TlsError> {
    let chain = chain(&files.certificate)?;
    let key = key(&files.key)?;
    CertifiedKey::from_der(chain, key, &rustls::crypto::aws_lc_rs::default_provider()).map_err(|error| {
        TlsError::Mismatch { certificate: files.certificate.clone(), key: files.key.clone(), reason: error.to_string() }
    })
}

fn chain(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = fs::read(file).map_err(|source| TlsError::Io { file: file.to_owned(), source })?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    chain.ok().filter(|chain| !chain.is_empty()).ok_or_else(|| TlsError::NoCertificate { file: file.to_owned() })
}

fn key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let io = |source| TlsError::Io { file: file.to_owned(), source };
    let text = Zeroizing::new(fs::read(file).map_err(io)?);
    if let Some(mode) = exposed_mode(file).map_err(io)? {
        return Err(TlsError::Exposed { file: file.to_owned(), mode });
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|_| TlsError::NoKey { file: file.to_owned() })
}
