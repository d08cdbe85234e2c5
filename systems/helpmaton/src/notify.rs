//! What people are told outside the system: by mail, as a rule. Who carries it is for the program to say.

use std::sync::{Arc, Mutex, PoisonError};

use keyform::execute::BoxFuture;

use crate::secrets::Minted;

/// Something to tell somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A token by which the reader of the mail signs in.
    SignIn {
        /// The token.
        token: Minted,
    },
    /// An invitation to a workspace.
    Invited {
        /// The workspace.
        workspace_id: String,
        /// Its name.
        workspace: String,
        /// The token that answers it.
        token: Minted,
    },
    /// A limit of the plan is reached.
    LimitReached {
        /// The plan.
        plan: String,
        /// Which limit.
        limit: String,
    },
    /// A payment failed: the plan stays for the days of grace.
    PaymentFailed {
        /// Until when, as a time of ISO 8601.
        until: String,
    },
    /// The plan is free again.
    Downgraded,
}

/// Carries notices to people.
pub trait Notifier: Send + Sync {
    /// Tells somebody at an address.
    ///
    /// # Errors
    /// It could not be handed over; why, for the log. Nothing else fails because of it.
    fn tell(&self, address: &str, notice: Notice) -> BoxFuture<'_, Result<(), String>>;
}

/// Stands in for mail while there is none: what would be mailed is in the log, tokens included. A program that serves strangers gives another one.
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

/// Keeps what was told, for tests. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Recorded(Arc<Mutex<Vec<(String, Notice)>>>);

impl Recorded {
    /// What an address was told, in order.
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
