//! Keys of one OpenID provider, kept up to date by one task.
//!
//! - The task fetches the keys at the start and again when their lifetime ends. If that fails, it retries with growing
//!   pauses, and the server keeps the keys that it has.
//! - A token with an unknown `kid` wakes the task, at most every 30 seconds: callers cannot make the server send more
//!   requests. The call waits for the result. Only one task fetches, so concurrent calls cause one request.
//! - Until the first keys are there, calls with a token of this provider are answered with 503.

use std::sync::Arc;
use std::time::Duration;

use keyform_core::World;
use keyform_core::world::timeout;
use keyform_flow::TokenKeys;
use keyform_flow::token::{self, Refusal};
use serde_json::{Map, Value};
use tokio::sync::{Notify, watch};

use super::fetch::Fetcher;
use super::issuer::Issuer;

/// Limit for fetching both documents.
const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// Minimum time between a fetch and another one that an unknown `kid` causes.
const REFRESH_INTERVAL: Duration = Duration::from_secs(30);
/// Pauses after failures grow from the first to the second.
const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(60);
/// `Retry-After` of calls until the first keys are there.
pub(crate) const RETRY_AFTER_SECS: u64 = 5;

/// Reason why a token was not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unverified {
    Refused(Refusal),
    /// The keys of the provider are not there yet.
    NoKeys,
}

pub(crate) struct Provider {
    issuer: Issuer,
    world: Arc<dyn World>,
    known: watch::Sender<Known>,
    wanted: Notify,
}

/// Result of the fetches so far.
#[derive(Clone, Default)]
struct Known {
    keys: Option<Arc<TokenKeys>>,
    /// Monotonic time at which the last fetch ended.
    fetched: Option<Duration>,
    /// Reason why the last fetch failed.
    failure: Option<String>,
}

impl Provider {
    pub(crate) fn new(issuer: Issuer, world: Arc<dyn World>) -> Self {
        Self { issuer, world, known: watch::Sender::new(Known::default()), wanted: Notify::new() }
    }

    /// Returns whether a token, which is not verified yet, names this provider.
    pub(crate) fn issues(&self, issuer: &str) -> bool {
        self.issuer.url() == issuer
    }

    /// Verifies a token of this provider with the known keys.
    pub(crate) fn verify(&self, token: &str) -> Result<Map<String, Value>, Unverified> {
        let keys = self.known.borrow().keys.clone().ok_or(Unverified::NoKeys)?;
        let now = self.world.system_time();
        token::verify_issued(&keys, self.issuer.url(), self.issuer.audiences(), token, now).map_err(Unverified::Refused)
    }

    /// Returns the reason why tokens of this provider cannot be verified, if any.
    pub(crate) fn unready(&self) -> Option<String> {
        let known = self.known.borrow();
        if known.keys.is_some() {
            return None;
        }
        let reason = known.failure.as_deref().unwrap_or("they are being fetched");
        Some(format!("the keys of {} are missing: {reason}", self.issuer.url()))
    }

    /// Waits for new keys if a token names a key that is not known, unless they were fetched a moment ago.
    pub(crate) async fn prepare(&self, key_id: Option<&str>) {
        let mut changes = self.known.subscribe();
        let unknown = changes.borrow_and_update().keys.as_ref().is_some_and(|keys| !keys.may_verify(key_id));
        if unknown && self.may_refresh() {
            self.wanted.notify_one();
            // Without an answer in time, the token is refused with the known keys.
            drop(timeout(&*self.world, FETCH_TIMEOUT, changes.changed()).await);
        }
    }

    fn may_refresh(&self) -> bool {
        let fetched = self.known.borrow().fetched;
        fetched.is_none_or(|fetched| self.world.monotonic() >= fetched + REFRESH_INTERVAL)
    }

    /// Keeps the keys up to date until the server stops.
    pub(crate) async fn run(self: Arc<Self>, mut stopping: watch::Receiver<bool>) {
        tokio::select! {
            () = self.refresh() => {}
            _ = stopping.changed() => {}
        }
    }

    async fn refresh(&self) {
        let mut fetcher = None;
        let mut failures = 0;
        loop {
            let pause = match self.fetch(&mut fetcher).await {
                Ok((keys, lifetime)) => {
                    failures = 0;
                    self.learn(Ok(keys));
                    lifetime
                }
                Err(reason) => {
                    failures += 1;
                    self.learn(Err(reason));
                    retry_pause(failures, self.world.jitter())
                }
            };
            self.pause(pause).await;
        }
    }

    async fn fetch(&self, fetcher: &mut Option<Fetcher>) -> Result<(TokenKeys, Duration), String> {
        let fetcher = match fetcher {
            Some(fetcher) => fetcher,
            None => fetcher.insert(Fetcher::new()?),
        };
        let limited = timeout(&*self.world, FETCH_TIMEOUT, fetcher.keys(self.issuer.url())).await;
        limited.unwrap_or_else(|_| Err(format!("no answer within {} seconds", FETCH_TIMEOUT.as_secs())))
    }

    /// Publishes the result of a fetch, and logs it if it differs from the last one.
    fn learn(&self, fetched: Result<TokenKeys, String>) {
        let mut known = self.known.borrow().clone();
        known.fetched = Some(self.world.monotonic());
        let failed_before = known.failure.take();
        let issuer = self.issuer.url();
        match fetched {
            Ok(keys) => {
                if failed_before.is_some() {
                    tracing::warn!(issuer, "the identity provider answers again");
                }
                known.keys = Some(Arc::new(keys));
            }
            Err(reason) => {
                if failed_before.as_ref() != Some(&reason) {
                    let effect = if known.keys.is_some() { "still using its older keys" } else { "tokens get 503" };
                    tracing::warn!(issuer, "cannot fetch the keys of the identity provider, {effect}: {reason}");
                }
                known.failure = Some(reason);
            }
        }
        self.known.send_replace(known);
    }

    /// Waits until the time has passed, or until a call wants a key that is not known.
    async fn pause(&self, time: Duration) {
        let mut end = self.world.sleep(time);
        loop {
            tokio::select! {
                () = &mut end => return,
                // Several calls may have asked before the last fetch: it has answered them.
                () = self.wanted.notified() => if self.may_refresh() { return },
            }
        }
    }
}

/// Returns the pause after a number of consecutive failures; between half and all of it, so that several instances do
/// not retry at the same moment.
fn retry_pause(failures: u32, jitter: f64) -> Duration {
    let pause = RETRY_MIN.saturating_mul(1 << failures.saturating_sub(1).min(6)).min(RETRY_MAX);
    pause.mul_f64(0.5 + jitter / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_minute() {
        let pauses: Vec<u64> =
            [1, 2, 3, 6, 7, 100].iter().map(|failures| retry_pause(*failures, 1.0).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 32, 60, 60]);
        assert_eq!(retry_pause(1, 0.0), Duration::from_millis(500));
    }
}
