//! Collects findings, without duplicates and with suggestions.

use std::collections::HashMap;

use crate::diagnostic::{Code, Diagnostic};
use crate::document::ast::Name;
use crate::span::Span;

/// Additional positions shown for one mistake.
const MORE_SHOWN: usize = 3;

/// Findings collected so far.
#[derive(Default)]
pub(super) struct Found {
    mistakes: Vec<Mistake>,
    /// First finding of each code and position.
    at: HashMap<(Code, usize, usize), usize>,
    /// First finding of each code and message.
    saying: HashMap<(Code, String), usize>,
}

/// A finding, with the other positions where it occurs.
struct Mistake {
    diagnostic: Diagnostic,
    more: Vec<Span>,
}

impl Mistake {
    fn finish(self) -> Diagnostic {
        let hidden = self.more.len().saturating_sub(MORE_SHOWN);
        let shown = self.more.iter().take(MORE_SHOWN);
        let diagnostic = shown.fold(self.diagnostic, |finding, place| finding.also(*place, "and here"));
        match hidden {
            0 => diagnostic,
            1 => diagnostic.note("and in one more place"),
            many => diagnostic.note(format!("and in {many} more places")),
        }
    }
}

impl Found {
    /// Adds a finding, unless it was already reported at this position: a shape's fields are visited once per entity.
    /// The same finding at another position is merged into the first, so that a missing declaration is one mistake,
    /// however often it is used.
    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        let place = diagnostic.primary.span;
        let number = self.mistakes.len();
        let at = *self.at.entry((diagnostic.code, place.start, place.end)).or_insert(number);
        let saying = *self.saying.entry((diagnostic.code, diagnostic.message.clone())).or_insert(number);
        let here = Some(at).filter(|_| place != Span::default());
        let elsewhere = Some(saying).filter(|_| diagnostic.secondary.is_empty());
        let first = here.into_iter().chain(elsewhere).min().unwrap_or(number);
        let Some(first) = self.mistakes.get_mut(first) else {
            return self.mistakes.push(Mistake { diagnostic, more: Vec::new() });
        };
        if first.diagnostic.primary.span != place && !first.more.contains(&place) {
            first.more.push(place);
            first.diagnostic.edits.extend(diagnostic.edits);
        }
    }

    /// Adds an error without label or help.
    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.add(Diagnostic::error(code, span, message));
    }

    /// Reports an unknown name and returns the most similar one of `known`. The caller continues with that name, which
    /// avoids follow-on errors.
    pub(super) fn unknown<'n>(
        &mut self,
        code: Code,
        name: &Name,
        message: impl Into<String>,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'n str> {
        let known: Vec<&'n str> = known.into_iter().collect();
        self.suggest(Diagnostic::error(code, name.span, message), name, &known)
    }

    /// Adds a finding about a name with the most similar known name as suggestion, and returns that name.
    pub(super) fn suggest<'n>(&mut self, finding: Diagnostic, name: &Name, known: &[&'n str]) -> Option<&'n str> {
        let near = nearest(&name.text, known);
        self.add(match near {
            Some(near) => finding.help(format!("did you mean `{near}`?")).edit(name.span, near),
            None => match listed(known) {
                Some(list) => finding.help(list),
                None => finding,
            },
        });
        near
    }

    /// Returns all findings in source order.
    pub(super) fn finish(self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> = self.mistakes.into_iter().map(Mistake::finish).collect();
        all.sort_by_key(|diagnostic| (diagnostic.primary.span, diagnostic.code));
        all
    }
}

/// Returns the most similar known name within an edit distance of a third of its length.
pub(super) fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let distance = |other: &str| match other.eq_ignore_ascii_case(name) {
        true => 0,
        false => strsim::damerau_levenshtein(name, other),
    };
    let most = (name.chars().count() / 3).max(1);
    let near = known.iter().copied().map(|other| (distance(other), other)).filter(|(far, _)| *far <= most);
    near.min_by_key(|(far, _)| *far).map(|(_, other)| other)
}

/// Formats the known names as a sentence, if there are at most eight.
fn listed(known: &[&str]) -> Option<String> {
    let names: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => None,
        [one] => Some(format!("there is only {one}")),
        [most @ .., last] if names.len() <= 8 => Some(format!("there are {} and {last}", most.join(", "))),
        _ => None,
    }
}
