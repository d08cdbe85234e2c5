//! Rate limit for guesses of invite codes. See `docs/security.md`.

use std::time::Duration;

use keyform::flow::{Attempts, Rate};

/// Guesses of an invite code: viewing an invite, and joining with it. The limit per client is generous, because all
/// clients behind one proxy count as one.
pub(crate) const INVITE: Attempts = Attempts {
    kind: "workspaces invite",
    per_client: Rate::new(100, Duration::from_secs(1)),
    per_account: Some(Rate::new(20, Duration::from_secs(10))),
    per_account_and_client: None,
};

/// Guesses of codes that begin alike, by all clients together: people without an account may view an invite.
pub(crate) const INVITE_CODES: Attempts = Attempts {
    kind: "workspaces invite codes",
    per_client: Rate::new(100, Duration::from_secs(1)),
    per_account: Some(Rate::new(200, Duration::from_secs(1))),
    per_account_and_client: None,
};
