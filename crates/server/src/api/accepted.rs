//! Checks every few seconds that the store still accepts the served models.
//!
//! A call checks the same before it runs. This task finds out without one, so that `/readyz` and the log report an
//! instance that serves a replaced version before a caller does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use keyform_runtime::run::{LOOK_INTERVAL, RunError};
use tokio::sync::watch;

use crate::shared::Shared;

/// Models that the store does not accept, each with the reason.
#[derive(Default)]
pub(crate) struct Unaccepted(Mutex<BTreeMap<String, String>>);

impl Unaccepted {
    /// Returns the reason why the server should get no calls of one of its models, if any.
    pub(crate) fn reason(&self) -> Option<String> {
        let unaccepted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        unaccepted.values().next().cloned()
    }

    /// Records the result of a check; logs it if it differs from the last one.
    fn learn(&self, model: &str, reason: Option<String>) {
        let mut unaccepted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match reason {
            Some(reason) if unaccepted.get(model) != Some(&reason) => {
                tracing::warn!(model, "calls of this model are refused: {reason}");
                unaccepted.insert(model.to_owned(), reason);
            }
            Some(_) => {}
            None if unaccepted.remove(model).is_some() => {
                tracing::warn!(model, "the store accepts this model again");
            }
            None => {}
        }
    }

    fn keep(&self, models: &[String]) {
        let mut unaccepted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        unaccepted.retain(|model, _| models.contains(model));
    }
}

/// Checks the served models until the server stops.
pub(crate) async fn watch(shared: Arc<Shared>, mut stopping: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = shared.world.sleep(LOOK_INTERVAL) => {}
            _ = stopping.changed() => return,
        }
        tokio::select! {
            () = look(&shared) => {}
            _ = stopping.changed() => return,
        }
    }
}

/// Checks every model that was called before.
pub(crate) async fn look(shared: &Shared) {
    let mut names = Vec::new();
    for served in shared.models.all() {
        let reason = match served.ensure_accepted().await {
            Err(RunError::NotAccepted(why)) => Some(why.to_string()),
            // Other failures are the store's, and its own probe reports them.
            Ok(()) | Err(_) => None,
        };
        shared.unaccepted.learn(served.name(), reason);
        names.push(served.name().to_owned());
    }
    shared.unaccepted.keep(&names);
}
