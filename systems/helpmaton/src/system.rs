//! What every part of the system stands on: the typed model, the host, and the settings.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use keyform::application::{Host, claims};
use keyform::runtime::run::{Caller, Surroundings};
use keyform::server::{Flow, FlowCall, FlowError};
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

/// How often an index that may lag behind is asked again: over half a second, all in all.
const LOOKS_MORE: u32 = 5;
const PAUSE_FIRST: Duration = Duration::from_millis(20);

/// How the number of model calls in 24 hours is limited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestLimit {
    /// A call is counted before it is made: the number is never exceeded.
    #[default]
    Strict,
    /// A call is counted after it was made: those that run at the same time may exceed the number by a few.
    Soft,
}

/// What a program may decide.
#[derive(Clone)]
pub struct Settings {
    /// How keys and tokens are hashed.
    pub hashing: Hashing,
    /// Who carries notices.
    pub notifier: Arc<dyn Notifier>,
    /// How model calls are limited.
    pub request_limit: RequestLimit,
    /// Where contents are that do not fit into items. In memory, if nothing is said: a program that keeps data gives a directory or S3.
    pub objects: Arc<dyn Objects>,
    /// What models cost.
    pub prices: Arc<PriceTable>,
    /// The addresses of those who decide on trial credit.
    pub administrators: BTreeSet<String>,
    /// What the shop signs orders with. Without it no order is taken over HTTP.
    pub shop_secret: Option<Secret<String>>,
}

impl Settings {
    /// Those by default, with contents kept in the host's folder if it has one.
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

/// The system: cheap to clone, for all tasks.
#[derive(Clone, Debug)]
pub struct Helpmaton {
    /// The patterns of the model, without a caller: code may everything.
    pub model: model::Helpmaton,
    host: Host,
    settings: Settings,
}

impl Helpmaton {
    /// The system on a host.
    ///
    /// # Errors
    /// The host lacks what the model needs, such as keys for encrypted fields.
    pub fn on(host: &Host, settings: Settings) -> Result<Self, CallError> {
        let model = model::Helpmaton::on(host.store(), host.options())?;
        Ok(Self { model, host: host.clone(), settings })
    }

    /// Where it runs.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What was decided.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Clock, ids and randomness.
    #[must_use]
    pub fn surroundings(&self) -> Arc<dyn Surroundings> {
        self.host.surroundings()
    }

    /// The time, in milliseconds since 1970.
    #[must_use]
    pub fn now_millis(&self) -> i64 {
        self.surroundings().now_millis()
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        Timestamp::of_millis(self.now_millis())
    }

    /// An id that nobody has yet.
    #[must_use]
    pub fn fresh_id<Id: From<Uuid>>(&self) -> Id {
        Uuid::trusted(self.surroundings().fresh().uuid()).into()
    }

    /// An id for what a call makes: the same whenever the call is repeated under its token, and a fresh one without a token. `what` tells apart the several
    /// things that one call makes.
    #[must_use]
    pub fn id_for<Id: From<Uuid>>(&self, token: Option<&str>, what: &str) -> Id {
        match token {
            Some(token) => derived_id(token, what),
            None => self.fresh_id(),
        }
    }

    /// The patterns as a caller of a flow may call them.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] if nobody said who they are.
    pub fn as_caller(&self, caller: &Caller) -> Result<(model::Caller, model::Helpmaton), FlowError> {
        let caller: model::Caller = claims(caller)?;
        Ok((caller.clone(), self.model.as_caller(caller)))
    }

    /// Asks an index; and where indexes may lag behind, again for a moment before it is believed that there is nothing.
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

    /// Waits until an index may have caught up: a little longer each time.
    pub(crate) async fn pause(&self, look: u32) {
        self.surroundings().sleep(PAUSE_FIRST.saturating_mul(1 << look.min(6))).await;
    }

    /// A flow of the system: an async function of it and a call.
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

    /// Tells somebody. What cannot be handed over is in the log: nothing fails because of it.
    pub async fn tell(&self, address: &str, notice: Notice) {
        if let Err(why) = self.settings.notifier.tell(address, notice).await {
            tracing::warn!(address, "a notice could not be handed over: {why}");
        }
    }
}

/// An id that is the same for the same texts: a UUID of version 8 made of their SHA-256.
#[must_use]
pub fn derived_id<Id: From<Uuid>>(token: &str, what: &str) -> Id {
    let digest =
        Sha256::new().chain_update(what.as_bytes()).chain_update([0]).chain_update(token.as_bytes()).finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Uuid::trusted(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])).into()
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
    }
}
