//! Notifications outside the system, usually by mail. The program provides the transport.

use std::sync::{Arc, Mutex, PoisonError};

use keyform::execute::BoxFuture;

use crate::secrets::Minted;

/// Notification to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// Token that signs in the reader of the mail.
    SignIn {
        /// Single-use token.
        token: Minted,
    },
    /// Invitation to a workspace.
    Invited {
        /// Id of the workspace.
        workspace_id: String,
        /// Name of the workspace.
        workspace: String,
        /// Token that accepts the invitation.
        token: Minted,
    },
    /// A limit of the plan is reached.
    LimitReached {
        /// Name of the plan.
        plan: String,
        /// Name of the limit.
        limit: String,
    },
    /// A payment failed: the plan continues during the grace period.
    PaymentFailed {
        /// End of the grace period in ISO 8601.
        until: String,
    },
    /// The subscription was reset to the free plan.
    Downgraded,
}

/// Transport for notifications.
pub trait Notifier: Send + Sync {
    /// Sends a notification to an address.
    ///
    /// # Errors
    /// The reason why it could not be sent, for the log. The calling operation does not fail because of it.
    fn tell(&self, address: &str, notice: Notice) -> BoxFuture<'_, Result<(), String>>;
}

/// Logs notifications instead of mailing them, tokens included. Public deployments must use another notifier.
#[derive(Clone, Copy, Debug, Default)]
pub struct Logged;

impl Notifier for Logged {
    fn tell(&self, address: &str, notice: Notice) -> BoxFuture<'_, Result<(), String>> {
        match &notice {
            Notice::SignIn { token } => tracing::info!(address, token = token.reveal(), "mail: sign in"),
            Notice::Invited { workspace_id, token, .. } => {
                tracing::info!(address, workspace_id, token = token.reveal(), "mail: an invitation");
            }
            other => tracing::info!(address, "mail: {other:?}"),
        }
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Records notifications for tests. Clones share the record.
#[derive(Clone, Debug, Default)]
pub struct Recorded(Arc<Mutex<Vec<(String, Notice)>>>);

impl Recorded {
    /// Returns the notifications to an address, in order.
    #[must_use]
    pub fn told(&self, address: &str) -> Vec<Notice> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter(|(to, _)| to == address).map(|(_, notice)| notice.clone()).collect()
    }
}

impl Notifier for Recorded {
    fn tell(&self, address: &str, notice: Notice) -> BoxFuture<'_, Result<(), String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((address.to_owned(), notice));
        Box::pin(std::future::ready(Ok(())))
    }
}
