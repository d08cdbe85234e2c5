//! State that all workers of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keyform_core::{Execute, World};
use keyform_live::read::Live;
use tokio::sync::Semaphore;

use crate::admission::Admissions;
use crate::allowed_hosts::Hosts;
use crate::api::accepted::Unaccepted;
use crate::api::{Authentication, Models};
use crate::body::Budget;
use crate::cors::Cors;
use crate::metrics::Metrics;
use crate::proxies::Proxies;
use crate::security::Security;
use crate::settings::{Limits, Probe, ServerSettings, Timeouts};
use crate::sigv4::Verifier;
use crate::tls::Tls;

/// State of a running server.
pub(crate) struct Shared {
    pub(crate) world: Arc<dyn World>,
    pub(crate) execute: Arc<dyn Execute>,
    pub(crate) region: String,
    /// Set if `POST /` accepts operations.
    pub(crate) operations: bool,
    pub(crate) security: Security,
    pub(crate) hosts: Hosts,
    pub(crate) cors: Cors,
    pub(crate) proxies: Proxies,
    /// `None` if the port speaks plain HTTP.
    pub(crate) tls: Option<Tls>,
    /// Set if metrics have a separate port.
    pub(crate) has_metrics_address: bool,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    /// `None` if any signature is accepted.
    pub(crate) verifier: Option<Verifier>,
    pub(crate) probe: Option<Arc<dyn Probe>>,
    pub(crate) models: Models,
    /// Models that the store does not accept.
    pub(crate) unaccepted: Unaccepted,
    pub(crate) authentication: Authentication,
    /// Live reads of all models; shares one feed per table.
    pub(crate) live: Live,
    pub(crate) metrics: Metrics,
    pub(crate) large_bodies: Budget,
    /// Permits for measuring compressed bodies.
    pub(crate) measuring: Semaphore,
    pub(crate) admissions: Arc<Admissions>,
    stopping: AtomicBool,
}

/// Checked settings of the port.
pub(crate) struct Front {
    pub(crate) hosts: Hosts,
    pub(crate) cors: Cors,
    pub(crate) proxies: Proxies,
    pub(crate) tls: Option<Tls>,
}

impl Shared {
    pub(crate) fn new(
        settings: ServerSettings,
        Front { hosts, cors, proxies, tls }: Front,
        execute: Arc<dyn Execute>,
        probe: Option<Arc<dyn Probe>>,
    ) -> Self {
        let (security, has_metrics_address) = (Security::of(&settings), settings.metrics_address.is_some());
        security.log(&settings);
        let ServerSettings {
            region,
            credentials,
            limits,
            timeouts,
            world,
            operations,
            models,
            token_keys,
            issuers,
            live,
            workers,
            ..
        } = settings;
        let authentication = Authentication::new(token_keys, issuers, &world);
        let verifier = (!credentials.is_empty()).then(|| Verifier::new(credentials, region.clone(), world.clone()));
        Self {
            large_bodies: Budget::of(limits.large_bodies_bytes_max),
            measuring: Semaphore::new(workers.clamp(1, Semaphore::MAX_PERMITS)),
            execute,
            region,
            operations,
            security,
            hosts,
            cors,
            proxies,
            tls,
            has_metrics_address,
            limits,
            timeouts,
            verifier,
            probe,
            models,
            unaccepted: Unaccepted::default(),
            authentication,
            live: Live::new(live),
            metrics: Metrics::new(world.monotonic()),
            admissions: Arc::new(Admissions::new(&limits)),
            world,
            stopping: AtomicBool::new(false),
        }
    }

    pub(crate) fn begin_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Returns the reason why the server should get no new work, if any.
    pub(crate) async fn ready(&self) -> Result<(), String> {
        if self.is_stopping() {
            return Err("the server is stopping".to_owned());
        }
        if let Some(reason) = self.unaccepted.reason() {
            return Err(reason);
        }
        if let Some(reason) = self.authentication.unready() {
            return Err(reason);
        }
        match &self.probe {
            Some(probe) => probe.check().await,
            None => Ok(()),
        }
    }
}
