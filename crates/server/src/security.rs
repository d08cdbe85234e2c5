//! Security mode of a server, derived once from its configuration.
//!
//! An identity provider counts as a token key.
//!
//! | credentials | token key | state | `POST /` | `/v1` | `/metrics` |
//! |---|---|---|---|---|---|
//! | no | no | [`Development`](Security::Development) | everybody on this machine | callers name themselves | everybody on this machine |
//! | yes | no | [`SignedOperations`](Security::SignedOperations) | signed | closed | with credentials |
//! | no | yes | [`TokenCalls`](Security::TokenCalls) | closed | with a token | closed |
//! | yes | yes | [`Full`](Security::Full) | signed | with a token | with credentials |
//!
//! Both APIs reach the same data, so protecting only one would protect nothing. The API without credentials is
//! therefore closed, and its error message says what to configure.

use std::net::SocketAddr;

use crate::error::StartError;
use crate::settings::ServerSettings;

/// Security mode, derived from the configured credentials and token keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Neither credentials nor a token key: any signature is accepted, and callers name themselves. Loopback only.
    Development,
    /// Credentials only: operations must be signed, the model API is closed.
    SignedOperations,
    /// Token key only: model calls must carry a token, operations are closed.
    TokenCalls,
    /// Both: operations must be signed, and model calls must carry a token.
    Full,
}

impl Security {
    /// Returns the mode for the settings. A generated development token key does not count.
    #[must_use]
    pub fn of(settings: &ServerSettings) -> Self {
        let verifies_tokens = !settings.token_keys.is_empty() || !settings.issuers.is_empty();
        match (settings.credentials.is_empty(), !verifies_tokens) {
            (true, true) => Self::Development,
            (false, true) => Self::SignedOperations,
            (true, false) => Self::TokenCalls,
            (false, false) => Self::Full,
        }
    }

    /// Rejects configurations that would expose an unprotected port.
    pub(crate) fn check(self, settings: &ServerSettings, address: SocketAddr) -> Result<(), StartError> {
        let (reachable, models) = (!address.ip().is_loopback(), !settings.models.is_empty());
        match self {
            Self::Development if reachable && (models || !settings.operations) => {
                Err(StartError::WithoutTokens { address })
            }
            Self::Development if reachable => Err(StartError::Unprotected { address }),
            // An explicitly requested model that cannot be called is a configuration error; a default model is just
            // closed.
            Self::SignedOperations if settings.models.have_given() => Err(StartError::ModelsClosed),
            Self::Development | Self::SignedOperations | Self::TokenCalls | Self::Full => Ok(()),
        }
    }

    /// Returns whether the model API is open.
    #[must_use]
    pub fn opens_models(self) -> bool {
        match self {
            Self::Development | Self::TokenCalls | Self::Full => true,
            Self::SignedOperations => false,
        }
    }

    /// Returns whether DynamoDB operations are open, provided that the server accepts them at all.
    #[must_use]
    pub fn opens_operations(self) -> bool {
        match self {
            Self::Development | Self::SignedOperations | Self::Full => true,
            Self::TokenCalls => false,
        }
    }

    pub(crate) fn has_credentials(self) -> bool {
        match self {
            Self::Development | Self::TokenCalls => false,
            Self::SignedOperations | Self::Full => true,
        }
    }

    /// Returns one or two sentences for the operator. `operations` is whether the server accepts operations at all.
    #[must_use]
    pub fn describe(self, operations: bool) -> &'static str {
        match (self, operations) {
            (Self::Development, true) => {
                "Development mode: no credentials and no token key are configured. Every program on this machine may read and change all data, and callers are who their X-Keyform-Caller header says."
            }
            (Self::Development, false) => {
                "Development mode: no token key is configured. Callers are who their X-Keyform-Caller header says."
            }
            (Self::SignedOperations, true) => {
                "Secured: DynamoDB operations must be signed. The model API (/v1) is closed until a token key is configured."
            }
            (Self::SignedOperations, false) => {
                "Secured: the model API (/v1) is closed until a token key is configured."
            }
            (Self::TokenCalls, true) => {
                "Secured: calls of models must carry a token. DynamoDB operations (POST /) are closed until credentials are configured: run `keyform credentials add`."
            }
            (Self::TokenCalls | Self::Full, false) => "Secured: calls of models must carry a token.",
            (Self::Full, true) => {
                "Secured: DynamoDB operations must be signed, and calls of models must carry a token."
            }
        }
    }

    /// Logs the mode; as a warning if something served is closed, or open to unverified callers.
    pub(crate) fn log(self, settings: &ServerSettings) {
        let text = self.describe(settings.operations);
        let warn = match self {
            Self::Development => settings.models.have_given(),
            Self::SignedOperations => !settings.models.is_empty(),
            Self::TokenCalls => settings.operations,
            Self::Full => false,
        };
        if warn { tracing::warn!("{text}") } else { tracing::info!("{text}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::Credentials;
    use keyform_flow::TokenKeys;

    fn state(credentials: bool, token_keys: TokenKeys) -> Security {
        let pairs = credentials.then(|| ("id".to_owned(), "secret".to_owned()));
        Security::of(&ServerSettings { credentials: Credentials::new(pairs), token_keys, ..ServerSettings::default() })
    }

    #[test]
    fn what_is_configured_decides() {
        let key = || TokenKeys::secret(b"0123456789abcdef0123456789abcdef").expect("long enough");
        assert_eq!(state(false, TokenKeys::default()), Security::Development);
        assert_eq!(state(false, TokenKeys::made_up()), Security::Development);
        assert_eq!(state(true, TokenKeys::default()), Security::SignedOperations);
        assert_eq!(state(true, TokenKeys::made_up()), Security::SignedOperations);
        assert_eq!(state(false, key()), Security::TokenCalls);
        assert_eq!(state(true, key()), Security::Full);
    }
}
