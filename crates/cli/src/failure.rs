//! Error of the command: one message that includes the remedy.

use std::fmt;

use crate::advice;

/// Message for the user.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Errors of the library say what is wrong; the command adds the flag that remedies it.
impl<E: std::error::Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        match advice::flag(&error) {
            Some(flag) => Self(format!("{error}; {flag}")),
            None => Self(error.to_string()),
        }
    }
}
