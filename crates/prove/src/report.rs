//! Result of a proof, and the transcript of each leak.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// Result of the trial.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// All patterns of the model with their counts.
    pub patterns: Vec<Tried>,
    /// Violations of isolation. Each pattern has at most one of each kind: the first.
    pub leaks: Vec<Leak>,
    /// Facts that are no violation, each once per pattern.
    pub notes: Vec<Note>,
    /// Number of calls by the class of their answer.
    pub answers: BTreeMap<Class, usize>,
    /// Number of requests that the calls sent to the stores.
    pub requests: usize,
    /// Number of seeds that were tried, from 0.
    pub seeds: u64,
}

/// Class of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Class {
    /// A read found something, or a write succeeded.
    Answered,
    /// A read found nothing.
    Empty,
    /// A condition of the model refused the write.
    Refused,
    /// `allow` does not permit the caller.
    Forbidden,
    /// An argument is missing or has the wrong type.
    Invalid,
    /// Any other error.
    Failed,
}

/// Pattern with the counts of its trial calls.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// Pattern name as in the model.
    pub name: String,
    /// Isolation that the pattern promises.
    pub promise: Promise,
    /// Number of calls.
    pub calls: usize,
    /// Number of calls that passed authorization, whatever their result.
    pub entered: usize,
    /// Number of calls that found or wrote something.
    pub successes: usize,
    /// Maximum number of store requests of one call.
    pub requests: usize,
}

/// Isolation that a pattern promises by its `allow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Promise {
    /// Callers are isolated from each other.
    Isolated,
    /// Open to every caller (`allow public`), who still reaches only own items.
    Public,
    /// Closed to all callers: `allow system`.
    Forbidden,
}

/// Kind of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    /// The answer contains or depends on items of the other tenant.
    Read,
    /// A refusal shows an item of the other tenant.
    Refusal,
    /// The call changed or deleted an item of the other tenant.
    Change,
    /// The call created an item in the scope of the other tenant.
    Creation,
    /// The write depends on items of the other tenant.
    Dependence,
    /// The write gives a right that the caller does not have.
    Right,
    /// A caller without a right still gets the data that it opened.
    Revocation,
    /// Items that need no scope show private fields.
    Private,
    /// Callers reach a pattern for code.
    System,
    /// The write stores an item that does not fit its entity.
    Misfit,
}

/// Call that exposed, changed or depended on data of another tenant.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Leak {
    /// Pattern name as in the model.
    pub pattern: String,
    /// Kind of the violation.
    pub kind: Kind,
    /// Description of the violation.
    pub what: String,
    /// Identifiers of the two tenants.
    pub tenants: Vec<String>,
    /// Items that matter, as the model prints them.
    pub items: Vec<String>,
    /// Caller with its claims.
    pub caller: String,
    /// Arguments of the call.
    pub arguments: String,
    /// Answer of the call.
    pub answer: String,
    /// Answer of the same call without the other tenant's items, if it differs.
    pub alone: Option<String>,
    /// Seed of the world and the call.
    pub seed: u64,
    /// Number of calls with a violation of the same kind.
    pub calls: usize,
}

/// Fact that is no violation of isolation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// Pattern name as in the model.
    pub pattern: String,
    /// Description.
    pub what: String,
}

impl Proof {
    /// Returns the patterns that no trial call entered, not even for own items: they need a privilege or data that the
    /// worlds lack.
    pub fn closed(&self) -> impl Iterator<Item = &Tried> {
        self.patterns.iter().filter(|tried| tried.promise != Promise::Forbidden && tried.entered == 0)
    }

    /// Returns the number of calls.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.answers.values().sum()
    }

    /// Adds a leak, or counts it if the pattern has one of the kind.
    pub(super) fn leak(&mut self, leak: Leak) {
        let known = self.leaks.iter_mut().find(|known| known.pattern == leak.pattern && known.kind == leak.kind);
        match known {
            Some(known) => known.calls += 1,
            None => self.leaks.push(leak),
        }
    }

    pub(super) fn note(&mut self, pattern: &str, what: String) {
        let note = Note { pattern: pattern.to_owned(), what };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

impl Leak {
    /// Returns the lines of the transcript, each with its label.
    #[must_use]
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines: Vec<(&str, String)> = self.tenants.iter().map(|text| ("tenants", text.clone())).collect();
        lines.extend(self.items.iter().map(|item| ("item", item.clone())));
        lines.push(("caller", self.caller.clone()));
        lines.push(("call", format!("{}({})", self.pattern, self.arguments)));
        lines.push(("answer", self.answer.clone()));
        lines.extend(self.alone.iter().map(|answer| ("without", format!("{answer} (no data of the other tenant)"))));
        lines.push(("seed", self.seed.to_string()));
        lines
    }
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.pattern, self.what)?;
        self.lines().iter().try_for_each(|(label, text)| write!(f, "\n  {label:<8} {text}"))
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.pattern, self.what)
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Answered => "answered",
            Self::Empty => "empty",
            Self::Refused => "refused",
            Self::Forbidden => "forbidden",
            Self::Invalid => "invalid",
            Self::Failed => "failed",
        })
    }
}
