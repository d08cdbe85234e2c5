//! Transport between the chat client and a server.

use std::fmt;

use serde_json::Value;

/// Connection to a server.
pub trait Link {
    /// Calls a read.
    fn get(&self, read: &str, arguments: Value) -> impl Future<Output = Result<Value, Trouble>> + Send;

    /// Calls a write or a flow.
    fn post(&self, name: &str, arguments: Value) -> impl Future<Output = Result<Value, Trouble>> + Send;

    /// Sets the token for all further calls.
    fn authenticate(&mut self, token: &str);

    /// Subscribes to a read under an id that the client chooses.
    fn follow(&mut self, id: &str, read: &str, arguments: Value);

    /// Ends a subscription.
    fn unfollow(&mut self, id: &str);
}

/// Reason for a failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Outcome name, if the call was refused.
    pub outcome: Option<String>,
    /// Explanation for people.
    pub detail: String,
}

impl Trouble {
    /// Creates an error without an outcome name.
    pub fn new(detail: impl Into<String>) -> Self {
        Self { outcome: None, detail: detail.into() }
    }

    /// Returns whether the call was refused with this outcome.
    #[must_use]
    pub fn is(&self, outcome: &str) -> bool {
        self.outcome.as_deref() == Some(outcome)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Trouble {}
