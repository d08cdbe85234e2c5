//! Chat service: the typed model with the state that its flows need.

use std::sync::Arc;
use std::time::Duration;

use keyform::CallError;
use keyform::World;
use keyform::flow::{Attempts, Client, Host, Throttled};
use tokio::sync::OnceCell;

use crate::gateway::{Gateway, Mailboxes};
use crate::model::{Caller, Discord, UserId};
use crate::password::Passwords;

/// Settings of the chat.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Password hasher.
    pub passwords: Passwords,
    /// Lifetime of a token from a log-in.
    pub token_lifetime: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { passwords: Passwords::new(), token_lifetime: Duration::from_secs(12 * 60 * 60) }
    }
}

/// Chat service. Cheap to clone. Each flow is a method with the caller as first argument.
#[derive(Clone)]
pub struct Service {
    pub(crate) discord: Discord,
    pub(crate) host: Host,
    pub(crate) settings: Settings,
    pub(crate) mailboxes: Mailboxes,
    pub(crate) gateway: Gateway,
    /// Set after the table of answers was created.
    pub(crate) answers: Arc<OnceCell<()>>,
}

impl Service {
    /// Creates the service on a host.
    ///
    /// # Errors
    /// The host has no value for the variable `stage`.
    pub fn new(host: &Host, settings: Settings) -> Result<Self, CallError> {
        let discord = Discord::on(host.store(), host.options())?;
        let mailboxes = Mailboxes::new(host.world());
        let gateway = Gateway::new(discord.clone(), Arc::new(mailboxes.clone()));
        Ok(Self { discord, host: host.clone(), settings, mailboxes, gateway, answers: Arc::default() })
    }

    /// Returns the model for code, which bypasses `allow` and guards.
    #[must_use]
    pub fn model(&self) -> &Discord {
        &self.discord
    }

    /// Returns the model for a user, with guards.
    #[must_use]
    pub fn as_user(&self, user: &UserId) -> Discord {
        self.discord.as_caller(Caller { user_id: user.clone() })
    }

    /// Returns the gateway that delivers changes to connections.
    #[must_use]
    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// Returns the event queues of this process's connections.
    #[must_use]
    pub fn mailboxes(&self) -> &Mailboxes {
        &self.mailboxes
    }

    /// Counts an attempt, before it costs a read or a hash.
    pub(crate) fn attempt(&self, attempts: &Attempts, client: Client, account: &str) -> Result<(), Throttled> {
        self.host.throttle().attempt(attempts, client, Some(account.as_bytes()))
    }

    pub(crate) fn world(&self) -> Arc<dyn World> {
        self.host.world()
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("settings", &self.settings).finish_non_exhaustive()
    }
}
