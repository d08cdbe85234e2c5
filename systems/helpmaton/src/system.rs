//! Shared base of the system: the typed model, the host, and the settings.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use keyform::World;
use keyform::application::claims;
use keyform::flow::{Flow, FlowCall, FlowError, Host};
use keyform::runtime::run::Caller;
use keyform::{CallError, Execute, Secret, Timestamp, Uuid};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::model;
use crate::notify::{Logged, Notice, Notifier};
use crate::objects::{Directory, Memory, Objects};
use crate::prices::PriceTable;
use crate::secrets::Hashing;

/// Further attempts to read a lagging index; more than half a second in total.
const LOOKS_MORE: u32 = 5;
const PAUSE_FIRST: Duration = Duration::from_millis(20);

/// Enforcement of the limit on model calls in 24 hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestLimit {
    /// Counts a call before it is made: the limit is never exceeded.
    #[default]
    Strict,
    /// Counts a call after it was made: concurrent calls may exceed the limit slightly.
    Soft,
}

/// Settings of the system.
#[derive(Clone)]
pub struct Settings {
    /// Hashing of keys and tokens.
    pub hashing: Hashing,
    /// Transport for notifications.
    pub notifier: Arc<dyn Notifier>,
    /// Enforcement of the limit on model calls.
    pub request_limit: RequestLimit,
    /// Storage for contents that do not fit into items. In memory by default; production programs provide a directory
    /// or S3.
    pub objects: Arc<dyn Objects>,
    /// Price table of models.
    pub prices: Arc<PriceTable>,
    /// E-mail addresses of the administrators who decide on trial credit.
    pub administrators: BTreeSet<String>,
    /// Secret that the shop signs orders with. Without it no order is accepted over HTTP.
    pub shop_secret: Option<Secret<String>>,
}

impl Settings {
    /// Returns the defaults, with contents in the host's folder if it has one.
    #[must_use]
    pub fn on(host: &Host) -> Self {
        let settings = Self::default();
        match host.folder() {
            Some(folder) => {
                let directory = Directory::new(folder.join("helpmaton"));
                directory.close_to_others();
                Self { objects: Arc::new(directory), ..settings }
            }
            None => settings,
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            hashing: Hashing::default(),
            notifier: Arc::new(Logged),
            request_limit: RequestLimit::default(),
            objects: Arc::new(Memory::default()),
            prices: Arc::new(PriceTable::default()),
            administrators: BTreeSet::new(),
            shop_secret: None,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("request_limit", &self.request_limit).finish_non_exhaustive()
    }
}

/// System on a host. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Helpmaton {
    /// Handle of the model for code, which bypasses `allow` and guards.
    pub model: model::Helpmaton,
    host: Host,
    settings: Settings,
}

impl Helpmaton {
    /// Creates the system on a host.
    ///
    /// # Errors
    /// The host lacks an option that the model needs, such as keys of encrypted fields.
    pub fn on(host: &Host, settings: Settings) -> Result<Self, CallError> {
        let model = model::Helpmaton::on(host.store(), host.options())?;
        Ok(Self { model, host: host.clone(), settings })
    }

    /// Returns the host.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the clock, timer and randomness.
    #[must_use]
    pub fn world(&self) -> Arc<dyn World> {
        self.host.world()
    }

    /// Returns the current time in milliseconds since 1970.
    #[must_use]
    pub fn now_millis(&self) -> i64 {
        self.world().now_millis()
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp::of_millis(self.now_millis())
    }

    /// Generates a unique id.
    #[must_use]
    pub fn fresh_id<Id: From<Uuid>>(&self) -> Id {
        Uuid::trusted(self.world().uuid()).into()
    }

    /// Returns an id for an item that a call creates: the same whenever the call is repeated with its token, and a new
    /// one without a token. `what` distinguishes several items of one call.
    #[must_use]
    pub fn id_for<Id: From<Uuid>>(&self, token: Option<&str>, what: &str) -> Id {
        match token {
            Some(token) => derived_id(token, what),
            None => self.fresh_id(),
        }
    }

    /// Returns the claims and the handle of a flow's caller.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] if the caller is anonymous.
    pub fn as_caller(&self, caller: &Caller) -> Result<(model::Caller, model::Helpmaton), FlowError> {
        let caller: model::Caller = claims(caller)?;
        Ok((caller.clone(), self.model.as_caller(caller)))
    }

    /// Reads from an index. Where indexes may lag, retries for a moment before concluding that the item does not exist.
    pub(crate) async fn look_again<T, Asking>(&self, ask: impl Fn() -> Asking) -> Result<Option<T>, CallError>
    where
        Asking: Future<Output = Result<Option<T>, CallError>>,
    {
        let looks = if self.host.store().indexes_keep_up() { 0 } else { LOOKS_MORE };
        for look in 0..looks {
            if let Some(found) = ask().await? {
                return Ok(Some(found));
            }
            self.pause(look).await;
        }
        ask().await
    }

    /// Waits for an index to catch up, longer with each attempt.
    pub(crate) async fn pause(&self, look: u32) {
        self.world().sleep(PAUSE_FIRST.saturating_mul(1 << look.min(6))).await;
    }

    /// Creates a flow from an async function of the system and a call.
    pub(crate) fn flow<Arguments, Answer, Working>(
        &self,
        name: &'static str,
        about: &'static str,
        run: impl Fn(Self, FlowCall<Arguments>) -> Working + Send + Sync + 'static,
    ) -> Flow
    where
        Arguments: DeserializeOwned + JsonSchema,
        Answer: Serialize + JsonSchema,
        Working: Future<Output = Result<Answer, FlowError>> + Send + 'static,
    {
        let system = self.clone();
        Flow::new(name, about, move |call| run(system.clone(), call))
    }

    /// Sends a notification. Failures are logged, and do not fail the caller.
    pub async fn tell(&self, address: &str, notice: Notice) {
        if let Err(why) = self.settings.notifier.tell(address, notice).await {
            tracing::warn!(address, "cannot deliver a notice: {why}");
        }
    }
}

/// Derives an id from two strings: a version 8 UUID of their SHA-256.
#[must_use]
pub fn derived_id<Id: From<Uuid>>(token: &str, what: &str) -> Id {
    let digest =
        Sha256::new().chain_update(what.as_bytes()).chain_update([0]).chain_update(token.as_bytes()).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Uuid::trusted(uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_derived_id_depends_on_both_texts() {
        let id = |token, what| derived_id::<Uuid>(token, what);
        assert_eq!(id("a", "b"), id("a", "b"));
        assert_ne!(id("a", "b"), id("b", "a"));
        assert_eq!(Uuid::new(id("a", "b").as_str()), Ok(id("a", "b")));
        assert_eq!(id("a", "b").as_str(), "397c5716-bfd1-86d6-8c89-561958a0a977");
    }
}
