//! Certificate in use, replaced when its files change.
//!
//! A renewal writes two files, and a server may see the new certificate with the old key. Such a pair does not fit: the
//! server keeps the one in use, warns, and tries again when the files change again.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::sync::watch;

use super::TlsFiles;
use super::certificate::{self, TlsError};
use crate::shared::Shared;

/// Interval between looks at the files.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Protocols that the server offers, in the order of preference.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// TLS of a server.
pub(crate) struct Tls {
    files: TlsFiles,
    current: Arc<Current>,
    /// State of the files when they were last loaded.
    seen: Mutex<[Seen; 2]>,
    pub(super) config: Arc<ServerConfig>,
}

/// What tells two versions of a file apart: time, length and, because a renewal replaces the file, its inode.
type Seen = Option<(SystemTime, u64, u64)>;

/// Certificate for new connections.
#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl Tls {
    /// Loads the files.
    pub(crate) fn load(files: TlsFiles) -> Result<Self, TlsError> {
        let seen = Mutex::new(look(&files));
        let current = Arc::new(Current(RwLock::new(Arc::new(certificate::load(&files)?))));
        let builder = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().expect("the provider supports TLS 1.2 and 1.3");
        let mut config = builder.with_no_client_auth().with_cert_resolver(current.clone());
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Self { files, current, seen, config: Arc::new(config) })
    }

    /// Loads the files if they have changed.
    fn follow(&self) {
        let now = look(&self.files);
        if *self.seen() != now {
            self.reload();
        }
    }

    /// Loads the files again. A pair that cannot be used leaves the current one in place.
    pub(crate) fn reload(&self) {
        *self.seen() = look(&self.files);
        match certificate::load(&self.files) {
            Ok(pair) => {
                *self.current.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(pair);
                tracing::info!(certificate = %self.files.certificate.display(), "certificate loaded");
            }
            Err(error) => tracing::warn!("still using the previous certificate: {error}"),
        }
    }

    fn seen(&self) -> MutexGuard<'_, [Seen; 2]> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn look(files: &TlsFiles) -> [Seen; 2] {
    [seen(&files.certificate), seen(&files.key)]
}

fn seen(file: &Path) -> Seen {
    let found = fs::metadata(file).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&found);
    #[cfg(not(unix))]
    let inode = 0;
    Some((found.modified().ok()?, found.len(), inode))
}

/// Looks at the files until the server stops.
pub(crate) async fn watch(shared: Arc<Shared>, mut stopping: watch::Receiver<bool>) {
    let Some(tls) = &shared.tls else { return };
    loop {
        tokio::select! {
            () = shared.world.sleep(LOOK_EVERY) => tls.follow(),
            _ = stopping.changed() => return,
        }
    }
}
