//! Rate limits per client and, more strictly, per account. See `docs/security.md`.

use std::time::Duration;

use keyform::flow::{Attempts, Rate};

/// Generous, because all clients behind one proxy count as one.
const PER_CLIENT: Rate = Rate::new(100, Duration::from_secs(1));

/// Guesses of a password: log-ins, and password changes, which verify the current password. The account is the address,
/// in its only spelling.
pub(crate) const LOG_IN: Attempts = Attempts {
    kind: "discord log-in",
    per_client: PER_CLIENT,
    per_account: Some(Rate::new(20, Duration::from_secs(10))),
    per_account_and_client: Some(Rate::new(10, Duration::from_secs(30))),
};

/// Registrations, which cost a hash and reveal whether an address has an account.
pub(crate) const REGISTER: Attempts = Attempts { kind: "discord registration", ..LOG_IN };

/// Guesses of an invite code: viewing an invite, and joining with it.
pub(crate) const INVITE: Attempts = Attempts {
    kind: "discord invite",
    per_client: PER_CLIENT,
    per_account: Some(Rate::new(20, Duration::from_secs(10))),
    per_account_and_client: None,
};

/// Guesses of invite codes that begin alike, by all clients together: people without an account may view an invite.
pub(crate) const INVITE_CODES: Attempts = Attempts {
    kind: "discord invite codes",
    per_client: PER_CLIENT,
    per_account: Some(Rate::new(200, Duration::from_secs(1))),
    per_account_and_client: None,
};
