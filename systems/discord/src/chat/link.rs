//! What carries calls to a server.

use std::fmt;

use serde_json::Value;

/// A way to a server.
pub trait Link {
    /// Calls a read with its arguments.
    fn get(&self, read: &str, arguments: Value) -> impl Future<Output = Result<Value, Trouble>> + Send;

    /// Calls a write or a flow with its arguments.
    fn post(&self, name: &str, arguments: Value) -> impl Future<Output = Result<Value, Trouble>> + Send;

    /// Says who calls from now on.
    fn authenticate(&mut self, token: &str);

    /// Follows a read from now on, under a name of the client's.
    fn follow(&mut self, id: &str, read: &str, arguments: Value);

    /// Follows it no longer.
    fn unfollow(&mut self, id: &str);
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The name of the refusal, if it is one.
    pub outcome: Option<String>,
    /// The reason, for people.
    pub detail: String,
}

impl Trouble {
    /// A reason without a name.
    pub fn new(detail: impl Into<String>) -> Self {
        Self { outcome: None, detail: detail.into() }
    }

    /// Whether it is the refusal of that name.
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
