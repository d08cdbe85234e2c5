//! Accepts the runner's model before its first call, and checks every few seconds that it is still accepted.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use keyform_core::{ErrorCode, Execute};
use keyform_language::bookkeeping::MODELS;

use crate::accept::{self, AcceptError, Accepted, Candidate, NotAccepted};

use super::{RunError, Runner};

/// Maximum age of an instance's knowledge of the accepted model.
pub const LOOK_INTERVAL: Duration = Duration::from_secs(5);

/// What a runner and its clones know about the accepted version of their model.
pub(super) struct Acceptance {
    /// Store of the records. Not the runner's own, which a caller may replace by one that records what a call reads.
    store: Arc<dyn Execute>,
    /// Computed at the first look, because a runner may never be called.
    candidate: OnceLock<Arc<Candidate>>,
    known: Mutex<Option<Known>>,
}

#[derive(Clone)]
struct Known {
    verdict: Verdict,
    /// Moment of the last look on the monotonic clock.
    looked: Duration,
}

#[derive(Clone)]
enum Verdict {
    /// The store has accepted this version.
    Accepted,
    /// The store has no table of models yet.
    Unrecorded,
    /// The store refused this version when it was first offered.
    Refused(Arc<NotAccepted>),
    /// The store accepted this version, and then an incompatible one.
    Superseded(Arc<NotAccepted>),
}

impl Verdict {
    fn result(&self) -> Result<(), RunError> {
        match self {
            Self::Accepted | Self::Unrecorded => Ok(()),
            Self::Refused(why) | Self::Superseded(why) => Err(RunError::NotAccepted(why.clone())),
        }
    }

    /// Returns whether this version was accepted once. From then on it is only verified and never offered again:
    /// otherwise two instances with incompatible versions would replace each other's.
    fn was_accepted(&self) -> bool {
        match self {
            Self::Accepted | Self::Superseded(_) => true,
            Self::Unrecorded | Self::Refused(_) => false,
        }
    }
}

impl Acceptance {
    pub(super) fn on(store: Arc<dyn Execute>) -> Self {
        Self { store, candidate: OnceLock::new(), known: Mutex::default() }
    }

    fn known(&self) -> Option<Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn learn(&self, verdict: Verdict, looked: Duration) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(Known { verdict, looked });
    }

    /// Returns the verdict if it is recent enough. Otherwise marks it as looked at, so that of many concurrent calls
    /// one looks again.
    fn recent(&self, now: Duration) -> Option<Verdict> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = known.as_mut()?;
        if now.saturating_sub(known.looked) < LOOK_INTERVAL {
            return Some(known.verdict.clone());
        }
        known.looked = now;
        None
    }
}

impl Runner {
    /// Compares the model with the one that the store has accepted, and records it in its place. Every call does this
    /// if nothing did before; a program that wants to know before it starts calls it itself.
    ///
    /// # Errors
    ///
    /// Returns [`RunError::NotAccepted`] if the model does not fit the items of the accepted version.
    pub async fn accept(&self) -> Result<Accepted, RunError> {
        let now = self.world.monotonic();
        let accepted = accept::accept(&*self.acceptance.store, self.candidate(), self.settings.accept_breaking).await;
        match &accepted {
            Ok(Accepted::Unrecorded) => self.acceptance.learn(Verdict::Unrecorded, now),
            Ok(_) => self.acceptance.learn(Verdict::Accepted, now),
            Err(AcceptError::NotAccepted(why)) => {
                self.acceptance.learn(Verdict::Refused(Arc::new(NotAccepted::clone(why))), now);
            }
            Err(AcceptError::Busy | AcceptError::Store(_)) => {}
        }
        Ok(accepted?)
    }

    /// Returns whether the store still accepts the model; looks again after [`LOOK_INTERVAL`]. Costs a lock and no
    /// request in between.
    ///
    /// # Errors
    ///
    /// Returns [`RunError::NotAccepted`] if it does not.
    pub async fn ensure_accepted(&self) -> Result<(), RunError> {
        let now = self.world.monotonic();
        if let Some(verdict) = self.acceptance.recent(now) {
            return verdict.result();
        }
        Box::pin(self.look(now)).await
    }

    async fn look(&self, now: Duration) -> Result<(), RunError> {
        let Some(known) = self.acceptance.known() else { return self.accept().await.map(drop) };
        if !known.verdict.was_accepted() {
            return self.accept().await.map(drop);
        }
        let verdict = match accept::verify(&*self.acceptance.store, self.candidate()).await {
            Ok(()) => Verdict::Accepted,
            Err(AcceptError::NotAccepted(why)) => Verdict::Superseded(Arc::from(why)),
            // A store that fails now answers the call itself; the version was accepted a few seconds ago.
            Err(AcceptError::Busy | AcceptError::Store(_)) => known.verdict,
        };
        self.acceptance.learn(verdict.clone(), now);
        verdict.result()
    }

    /// Creates the table of accepted models if it does not exist; returns whether it did.
    ///
    /// # Errors
    ///
    /// Returns an error if the store rejects the table.
    pub async fn create_model_table(&self) -> Result<bool, RunError> {
        match self.call(accept::model_table()).await {
            Ok(_) => self.wait_until_active(MODELS).await.map(|()| true),
            // Another process may be creating it right now.
            Err(error) if error.code() == ErrorCode::ResourceInUse => {
                self.wait_until_active(MODELS).await.map(|()| false)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn candidate(&self) -> &Candidate {
        let make = || Arc::new(Candidate::of(&self.checked, &self.settings.variables));
        self.acceptance.candidate.get_or_init(make)
    }
}

impl From<AcceptError> for RunError {
    fn from(error: AcceptError) -> Self {
        match error {
            AcceptError::NotAccepted(why) => Self::NotAccepted(Arc::from(why)),
            AcceptError::Busy => Self::Busy,
            AcceptError::Store(error) => error.into(),
        }
    }
}
