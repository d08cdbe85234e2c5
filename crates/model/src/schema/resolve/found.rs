//! Collecting findings: each one once, with a suggestion where a known name is near.

use crate::diagnostic::{Code, Diagnostic};
use crate::document::ast::Name;
use crate::span::Span;

/// What has been found so far.
#[derive(Default)]
pub(super) struct Found(Vec<Diagnostic>);

impl Found {
    /// Adds a finding, unless it has been made at this place before (a shape's fields are seen once for each of its entities).
    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        let place = diagnostic.primary.span;
        let same = |old: &Diagnostic| {
            let here = old.primary.span == place && (place != Span::default() || old.message == diagnostic.message);
            old.code == diagnostic.code && here
        };
        if !self.0.iter().any(same) {
            self.0.push(diagnostic);
        }
    }

    /// Adds an error without further words.
    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.add(Diagnostic::error(code, span, message));
    }

    /// Reports a name that is none of `known`. What it gives is the one that was probably meant: to go on with it as if it stood
    /// there keeps the mistake from being reported again in other words.
    pub(super) fn unknown<'n>(
        &mut self,
        code: Code,
        name: &Name,
        message: impl Into<String>,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'n str> {
        let known: Vec<&'n str> = known.into_iter().collect();
        let finding = Diagnostic::error(code, name.span, message);
        let near = nearest(&name.text, &known);
        self.add(match near {
            Some(near) => finding.help(format!("did you mean `{near}`?")).edit(name.span, near),
            None => match listed(&known) {
                Some(list) => finding.help(list),
                None => finding,
            },
        });
        near
    }

    /// Everything, in the order of the file.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        self.0.sort_by_key(|diagnostic| (diagnostic.primary.span, diagnostic.code));
        self.0
    }
}

/// The known name that was probably meant.
pub(super) fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let distance = |other: &str| match other.eq_ignore_ascii_case(name) {
        true => 0,
        false => strsim::damerau_levenshtein(name, other),
    };
    let most = (name.chars().count() / 3).max(1);
    let near = known.iter().copied().map(|other| (distance(other), other)).filter(|(far, _)| *far <= most);
    near.min_by_key(|(far, _)| *far).map(|(_, other)| other)
}

/// The known names in a sentence, if they are few.
fn listed(known: &[&str]) -> Option<String> {
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("there is only {one}")),
        [most @ .., last] if names.len() <= 8 => Some(format!("there are {} and {last}", most.join(", "))),
        _ => None,
    }
}
