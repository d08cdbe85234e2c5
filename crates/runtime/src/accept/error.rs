//! Reasons why a store does not accept a model.

use std::fmt;

use keyform_core::Error;
use keyform_language::Diagnostic;

/// Reason why a model was neither accepted nor refused, or refused.
#[derive(Clone, Debug, PartialEq)]
pub enum AcceptError {
    /// The store does not accept the model.
    NotAccepted(Box<NotAccepted>),
    /// Other programs changed the record in every attempt.
    Busy,
    /// The store failed.
    Store(Error),
}

/// A refused model.
#[derive(Clone, Debug, PartialEq)]
pub struct NotAccepted {
    /// Name of the model.
    pub model: String,
    /// Generation of the version that the store has accepted.
    pub generation: i64,
    /// Reason for the refusal.
    pub reason: Reason,
}

/// Reason for refusing a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The model does not fit the items of the accepted version.
    Breaking(Vec<Diagnostic>),
    /// The model has no `evolve` of this entity any more, but its migration is not complete.
    Unfinished(String),
    /// This instance's version was accepted once, and an incompatible one has replaced it.
    Superseded,
    /// The accepted version cannot be read, because a newer version of Keyform wrote it.
    Unreadable(String),
}

impl fmt::Display for NotAccepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, generation, reason } = self;
        match reason {
            Reason::Breaking(findings) => {
                write!(
                    f,
                    "the store has items of another version of the model `{model}` (generation {generation}), and this version breaks them:"
                )?;
                findings.iter().try_for_each(|finding| write_finding(f, finding))?;
                f.write_str(
                    "\nDescribe the change with an `evolve`, or accept the model explicitly if the items may be lost",
                )
            }
            Reason::Unfinished(entity) => write!(
                f,
                "the store has items of {entity} in their old form, and this version of the model `{model}` has no \
                `evolve {entity}` to find them: complete the migration with `keyform migrate run` and `keyform \
                migrate cutover` before you remove it"
            ),
            Reason::Superseded => write!(
                f,
                "the store has accepted a version of the model `{model}` (generation {generation}) that is not \
                compatible with the one of this instance: restart it with the accepted version"
            ),
            Reason::Unreadable(why) => write!(
                f,
                "this version of Keyform cannot read the accepted version of the model `{model}` (generation \
                {generation}): {why}"
            ),
        }
    }
}

fn write_finding(f: &mut fmt::Formatter<'_>, finding: &Diagnostic) -> fmt::Result {
    write!(f, "\n  {}: {}", finding.code.0, finding.message)?;
    match &finding.help {
        Some(help) => write!(f, "\n       {help}"),
        None => Ok(()),
    }
}

impl std::error::Error for NotAccepted {}

impl fmt::Display for AcceptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAccepted(refused) => refused.fmt(f),
            Self::Busy => f.write_str("other programs are changing the accepted model at the same time: try again"),
            Self::Store(error) => write!(f, "{}: {}", error.code().name(), error.message()),
        }
    }
}

impl std::error::Error for AcceptError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotAccepted(refused) => Some(refused),
            Self::Store(error) => Some(error),
            Self::Busy => None,
        }
    }
}

impl From<Error> for AcceptError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<NotAccepted> for AcceptError {
    fn from(refused: NotAccepted) -> Self {
        Self::NotAccepted(Box::new(refused))
    }
}
