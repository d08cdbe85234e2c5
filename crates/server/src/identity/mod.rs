//! OpenID providers whose tokens the server accepts.
//!
//! 1. [`Issuer`] is the setting: the URL of a provider, and the audiences that tokens must be for.
//! 2. `discovery` reads the provider's documents: the configuration, the key set, and how long to keep it.
//! 3. `fetch` downloads them.
//! 4. `provider` keeps the keys up to date, and verifies tokens.

mod discovery;
mod fetch;
mod issuer;
mod provider;

pub use issuer::{Issuer, IssuerError};
pub(crate) use provider::{Provider, RETRY_AFTER_SECS, Unverified};
