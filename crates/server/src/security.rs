//! What a server protects, decided once from what is configured.
//!
//! | credentials | token key | state | `POST /` | `/v1` | `/metrics` |
//! |---|---|---|---|---|---|
//! | no | no | [`Development`](Security::Development) | everybody on this machine | callers name themselves | everybody on this machine |
//! | yes | no | [`SignedOperations`](Security::SignedOperations) | signed | closed | with credentials |
//! | no | yes | [`TokenCalls`](Security::TokenCalls) | closed | with a token | closed |
//! | yes | yes | [`Full`](Security::Full) | signed | with a token | with credentials |
//!
//! One half alone would be no protection, since both reach the same data: what one asks a proof for, the other would give away. So the half that has
//! none is closed, and says what to configure.

use std::net::SocketAddr;

use crate::error::StartError;
use crate::settings::Settings;

/// What a server protects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Neither credentials nor a token key are configured: any signature is accepted, and callers are who they say. On loopback only.
    Development,
    /// Credentials alone: operations must be signed, the model API is closed.
    SignedOperations,
    /// A token key alone: calls of models must carry a token, operations are closed.
    TokenCalls,
    /// Both: operations must be signed, and calls of models must carry a token.
    Full,
}

impl Security {
    /// The state that the settings ask for. A token key that was made up for a process counts for nothing here.
    #[must_use]
    pub fn of(settings: &Settings) -> Self {
        match (settings.credentials.is_empty(), settings.token_keys.is_empty()) {
            (true, true) => Self::Development,
            (false, true) => Self::SignedOperations,
            (true, false) => Self::TokenCalls,
            (false, false) => Self::Full,
        }
    }

    /// Refuses to open a port without the protection that it needs.
    pub(crate) fn check(self, settings: &Settings, address: SocketAddr) -> Result<(), StartError> {
        let (reachable, models) = (!address.ip().is_loopback(), !settings.models.is_empty());
        match self {
            Self::Development if reachable && (models || !settings.operations) => {
                Err(StartError::WithoutTokens { address })
            }
            Self::Development if reachable => Err(StartError::Unprotected { address }),
            // A model that was asked for and cannot be called is a mistake; one that is there by default is only closed.
            Self::SignedOperations if settings.models.have_given() => Err(StartError::ModelsClosed),
            Self::Development | Self::SignedOperations | Self::TokenCalls | Self::Full => Ok(()),
        }
    }

    /// Whether the model API answers.
    #[must_use]
    pub fn opens_models(self) -> bool {
        match self {
            Self::Development | Self::TokenCalls | Self::Full => true,
            Self::SignedOperations => false,
        }
    }

    /// Whether operations are answered where the server takes any.
    #[must_use]
    pub fn opens_operations(self) -> bool {
        match self {
            Self::Development | Self::SignedOperations | Self::Full => true,
            Self::TokenCalls => false,
        }
    }

    /// Whether credentials are configured.
    pub(crate) fn has_credentials(self) -> bool {
        match self {
            Self::Development | Self::TokenCalls => false,
            Self::SignedOperations | Self::Full => true,
        }
    }

    /// One sentence or two for the operator. `operations` says whether the server takes operations at all.
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
                "Secured: DynamoDB operations must be signed. The model API (/v1) is closed until a token key is configured: pass --jwt-key-file."
            }
            (Self::SignedOperations, false) => {
                "Secured: the model API (/v1) is closed until a token key is configured: pass --jwt-key-file."
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

    /// Logs the state; as a warning where something that is served is closed, or open to callers on their word.
    pub(crate) fn log(self, settings: &Settings) {
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
    use crate::api::TokenKeys;
    use crate::credentials::Credentials;

    fn state(credentials: bool, token_keys: TokenKeys) -> Security {
        let pairs = credentials.then(|| ("id".to_owned(), "secret".to_owned()));
        Security::of(&Settings { credentials: Credentials::new(pairs), token_keys, ..Settings::default() })
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
