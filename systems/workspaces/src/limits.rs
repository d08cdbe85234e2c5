//! How often an invite code may be guessed. See `docs/security.md`.

use std::time::Duration;

use keyform::server::{Attempts, Rate};

/// Guesses of an invite code: to look at an invite, and to join by it. Per client it is generous, since the clients behind one proxy are one client.
pub(crate) const INVITE: Attempts = Attempts {
    kind: "workspaces invite",
    per_client: Rate::new(100, Duration::from_secs(1)),
    per_account: Some(Rate::new(20, Duration::from_secs(10))),
    per_account_and_client: None,
};
