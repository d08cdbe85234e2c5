//! Rate limits per client and, more strictly, per account. See `docs/security.md`.

use std::time::Duration;

use keyform::flow::{Attempts, Client, FlowError, Rate, Throttled};
use keyform::{TextForm, check_text};

use crate::Helpmaton;

/// Generous, because all clients behind one proxy count as one.
const PER_CLIENT: Rate = Rate::new(100, Duration::from_secs(1));

/// Mails to one address, with a sign-in token or an invitation. The account is the mailed address: if an attacker uses
/// up its limit with sign-ins, the owner receives those mails and can sign in with them.
pub(crate) const MAIL: Attempts = Attempts {
    kind: "helpmaton mail",
    per_client: Rate::new(100, Duration::from_secs(2)),
    per_account: Some(Rate::new(5, Duration::from_secs(300))),
    per_account_and_client: None,
};

/// Invitations to one address, which count as mails too. They use up only a part of that limit, so that inviting an
/// address cannot block its sign-in.
pub(crate) const INVITED: Attempts =
    Attempts { kind: "helpmaton invited", per_account: Some(Rate::new(3, Duration::from_secs(600))), ..MAIL };

/// Invitations that one owner sends, to any addresses.
pub(crate) const INVITER: Attempts = Attempts {
    kind: "helpmaton inviter",
    per_client: PER_CLIENT,
    per_account: Some(Rate::new(50, Duration::from_secs(30))),
    per_account_and_client: None,
};

/// Sign-ins with a mailed token.
pub(crate) const SIGN_IN: Attempts = Attempts {
    kind: "helpmaton sign-in",
    per_client: PER_CLIENT,
    per_account: Some(Rate::new(20, Duration::from_secs(10))),
    per_account_and_client: Some(Rate::new(10, Duration::from_secs(30))),
};

/// Guesses of an invitation's token. The account is the caller's, if any.
pub(crate) const INVITATION: Attempts = Attempts {
    kind: "helpmaton invitation",
    per_client: PER_CLIENT,
    per_account: Some(Rate::new(20, Duration::from_secs(10))),
    per_account_and_client: None,
};

/// Guesses of values with 256 random bits that name no account: refresh tokens, API keys, and the shop's signature. The
/// limit bounds the cost of verifying them, and must not stop many users behind one proxy.
pub(crate) const KEY: Attempts = Attempts {
    kind: "helpmaton key",
    per_client: Rate::new(300, Duration::from_millis(100)),
    per_account: None,
    per_account_and_client: None,
};

impl Helpmaton {
    /// Counts an attempt, before it costs a read, a hash or a mail. An address is that of [`mailbox`].
    pub(crate) fn attempt(&self, kind: &Attempts, client: Client, account: Option<&str>) -> Result<(), Throttled> {
        self.host().throttle().attempt(kind, client, account.map(str::as_bytes))
    }

    /// Counts an invitation by a user to an address.
    pub(crate) fn attempt_to_invite(&self, client: Client, by: &str, mailbox: &str) -> Result<(), Throttled> {
        let (by, mailbox) = (Some(by.as_bytes()), Some(mailbox.as_bytes()));
        self.host().throttle().attempt_all(client, &[(&INVITER, by), (&INVITED, mailbox), (&MAIL, mailbox)])
    }
}

/// Returns the only spelling of an address, so that no other spelling evades a limit.
///
/// # Errors
/// [`FlowError::Arguments`] if the text is not an address.
pub(crate) fn mailbox(email: &str) -> Result<String, FlowError> {
    check_text(email.to_owned(), TextForm::Email).map_err(|error| FlowError::Arguments(error.to_string()))
}
