//! How often something may be tried: per client, and more strictly per account. See `docs/security.md`.

use std::time::Duration;

use keyform::server::{Attempts, Rate};

/// Generous, since the clients behind one proxy are one client.
const PER_CLIENT: Rate = Rate::new(100, Duration::from_secs(1));

/// Log-ins with an address and a password.
pub(crate) const LOG_IN: Attempts = Attempts {
    kind: "discord log-in",
    per_client: PER_CLIENT,
    per_account: Some(Rate::new(20, Duration::from_secs(10))),
    per_account_and_client: Some(Rate::new(10, Duration::from_secs(30))),
};

/// Registrations, which cost a hash and show whether an address has an account.
pub(crate) const REGISTER: Attempts = Attempts { kind: "discord registration", ..LOG_IN };

/// Changes of a password, which prove the one so far. Only the owner's token gets here.
pub(crate) const CHANGE_PASSWORD: Attempts = Attempts { kind: "discord password change", ..LOG_IN };

/// Guesses of an invite code: to look at an invite, and to join by it.
pub(crate) const INVITE: Attempts = Attempts {
    kind: "discord invite",
    per_client: PER_CLIENT,
    per_account: Some(Rate::new(20, Duration::from_secs(10))),
    per_account_and_client: None,
};
