//! What all workers of a server share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use keyform_core::Execute;
use keyform_live::read::Live;
use tokio::sync::Semaphore;

use crate::admission::Admissions;
use crate::api::{Authentication, Models};
use crate::metrics::Metrics;
use crate::settings::{Limits, Probe, Settings, Timeouts};
use crate::sigv4::Verifier;

/// The state of a running server.
pub(crate) struct Shared {
    pub(crate) execute: Arc<dyn Execute>,
    pub(crate) region: String,
    /// Whether operations are taken.
    pub(crate) operations: bool,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    /// Absent when any signature is accepted.
    pub(crate) verifier: Option<Verifier>,
    pub(crate) probe: Option<Arc<dyn Probe>>,
    pub(crate) models: Models,
    pub(crate) authentication: Authentication,
    /// What clients follow.
    pub(crate) live: Live,
    pub(crate) metrics: Metrics,
    /// One for each large body that may be in memory.
    pub(crate) large_bodies: Arc<Semaphore>,
    pub(crate) admissions: Arc<Admissions>,
    stopping: AtomicBool,
}

impl Shared {
    pub(crate) fn new(settings: Settings, execute: Arc<dyn Execute>, probe: Option<Arc<dyn Probe>>) -> Self {
        let Settings { region, credentials, limits, timeouts, clock, operations, models, token_keys, live, .. } =
            settings;
        let authentication = Authentication::new(token_keys, clock.clone());
        if models.have_given() {
            authentication.announce();
        }
        let verifier = (!credentials.is_empty()).then(|| Verifier::new(credentials, region.clone(), clock));
        let large_bodies = Arc::new(Semaphore::new(limits.large_bodies_max.clamp(1, Semaphore::MAX_PERMITS)));
        Self {
            large_bodies,
            execute,
            region,
            operations,
            limits,
            timeouts,
            verifier,
            probe,
            models,
            authentication,
            live: Live::new(live),
            metrics: Metrics::new(),
            admissions: Arc::new(Admissions::new(&limits)),
            stopping: AtomicBool::new(false),
        }
    }

    pub(crate) fn begin_stopping(&self) {
        self.stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Why no new work should be sent here, if so.
    pub(crate) fn ready(&self) -> Result<(), String> {
        if self.is_stopping() {
            return Err("the server is stopping".to_owned());
        }
        self.probe.as_ref().map_or(Ok(()), |probe| probe.ready())
    }
}
