//! Reports syntax errors and suppresses follow-on errors.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic};
use crate::document::token::{Kind, Token};
use crate::scalar::Scalar;
use crate::span::Span;

use super::{Parser, Reported};

pub(super) const UNEXPECTED: Code = Code("S01");
pub(super) const UNCLOSED_BRACE: Code = Code("S03");
/// Unknown keyword.
pub(super) const UNKNOWN_WORD: Code = Code("S05");
pub(super) const UNKNOWN_TYPE: Code = Code("S06");
pub(super) const UNKNOWN_FLAG: Code = Code("S07");
pub(super) const BAD_NUMBER: Code = Code("S08");
/// Bounds that no value can satisfy, or that have no effect.
pub(super) const BAD_BOUNDS: Code = Code("S09");
/// Duplicate clause or declaration.
pub(super) const DUPLICATE: Code = Code("S13");
/// Nesting too deep.
pub(super) const TOO_DEEP: Code = Code("S14");
/// File without `model`.
pub(super) const NO_MODEL: Code = Code("S15");

/// Maximum length of a word for which a suggestion is computed.
const WORD_MAX: usize = 40;

/// Syntax errors that are reported. A file that is no model has one at every line.
const MISTAKES_MAX: usize = 100;

/// A syntax error, with the end of the token before it.
#[derive(Debug)]
pub(super) struct Mistake {
    diagnostic: Diagnostic,
    /// End offset of the token before it.
    after: usize,
}

impl Parser<'_> {
    /// Reports an error, unless the last one was at the same position.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let after = self.end();
        let start = diagnostic.primary.span.start;
        if self.mistakes.last().is_some_and(|last| last.diagnostic.primary.span.start == start) {
            return Reported;
        }
        self.mistakes.push(Mistake { diagnostic, after });
        Reported
    }

    /// Reports that the next token is not what the grammar expects.
    pub(super) fn expected(&mut self, what: &str) -> Reported {
        let found = self.found();
        self.expected_instead(what, &found, None)
    }

    /// Same as [`Self::expected`], with a suggested correction.
    pub(super) fn expected_with(&mut self, what: &str, help: &str) -> Reported {
        let found = self.found();
        self.expected_instead(what, &found, Some(help))
    }

    /// Describes the unexpected token.
    fn found(&self) -> String {
        let next = self.peek();
        if next.first && next.kind != Kind::End && self.at > 0 {
            "the end of the line".to_owned()
        } else {
            describe(next)
        }
    }

    fn expected_instead(&mut self, what: &str, found: &str, help: Option<&str>) -> Reported {
        if self.peek().kind == Kind::Bad {
            return Reported;
        }
        let span = self.expected_span();
        let mut diagnostic = Diagnostic::error(UNEXPECTED, span, format!("expected {what}, found {found}"))
            .label(format!("expected {what}"));
        diagnostic.help = help.map(str::to_owned);
        self.report(diagnostic)
    }

    /// Returns the span of the next token, or the end of the line if the next token is on another line.
    fn expected_span(&self) -> Span {
        let next = self.peek();
        let end = self.end();
        if (next.first || next.kind == Kind::End) && end > 0 { self.last_of(end) } else { next.span }
    }

    /// Returns the last character before `end`, so that the diagnostic has a character to mark.
    fn last_of(&self, end: usize) -> Span {
        let length = self.text[..end].chars().next_back().map_or(0, char::len_utf8);
        Span::new(end - length, end)
    }

    /// Reports an unknown keyword; returns the intended one, if a similar one exists.
    pub(super) fn unknown_word(&mut self, what: &str, words: &[&'static str]) -> Option<&'static str> {
        let token = self.peek();
        if token.kind == Kind::Bad {
            return None;
        }
        let span = if token.kind == Kind::End { self.expected_span() } else { token.span };
        let message = format!("expected {what}, found {}", describe(token));
        let meant = if token.kind == Kind::Word { nearest(&token.text, words) } else { None };
        let diagnostic = Diagnostic::error(UNKNOWN_WORD, span, message);
        self.report(suggest(diagnostic, span, meant, words));
        meant
    }

    /// Reports an unknown type.
    pub(super) fn unknown_type(&mut self, word: &str, span: Span, types: &[&'static str]) {
        let meant = foreign_type(word).or_else(|| nearest(word, types));
        let diagnostic = Diagnostic::error(UNKNOWN_TYPE, span, format!("unknown type `{word}`"));
        self.report(suggest(diagnostic, span, meant, types));
    }

    /// Reports an unknown flag.
    pub(super) fn unknown_flag(&mut self, word: &str, span: Span, flags: &[&'static str]) {
        let diagnostic = Diagnostic::error(UNKNOWN_FLAG, span, format!("`{word}` is not a flag of a field"));
        self.report(suggest(diagnostic, span, nearest(word, flags), flags));
    }

    /// Returns true if the last error was at `start` or later.
    pub(super) fn mistake_since(&self, start: usize) -> bool {
        self.mistakes.last().is_some_and(|mistake| mistake.diagnostic.primary.span.start >= start)
    }

    /// Reports a duplicate.
    pub(super) fn duplicate(&mut self, what: &str, first: Span, second: Span) {
        let diagnostic = Diagnostic::error(DUPLICATE, second, format!("{what} is given twice"))
            .also(first, "first occurrence")
            .help("keep one of them");
        self.report(diagnostic);
    }

    /// Reports nesting that is too deep.
    pub(super) fn too_deep(&mut self) -> Reported {
        let message = format!("this is nested more than {} levels deep", super::DEPTH_MAX);
        let span = self.peek().span;
        self.report(Diagnostic::error(TOO_DEEP, span, message).help("split it into several lines or declarations"))
    }

    /// Returns all errors in source order: those of the lexer, and those of the parser that are not on a line with a
    /// lexical error.
    pub(super) fn finish(self, lexical: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let starts: Vec<usize> =
            std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let line = |at: usize| starts.partition_point(|start| *start <= at);
        let tainted: BTreeSet<usize> = lexical.iter().map(|problem| line(problem.primary.span.start)).collect();
        let follows = |mistake: &Mistake| {
            tainted.contains(&line(mistake.diagnostic.primary.span.start)) || tainted.contains(&line(mistake.after))
        };
        let independent = self.mistakes.into_iter().filter(|mistake| !follows(mistake));
        let mut all: Vec<Diagnostic> =
            lexical.into_iter().chain(independent.map(|mistake| mistake.diagnostic)).collect();
        all.sort_by_key(|diagnostic| (diagnostic.primary.span, diagnostic.code));
        all.truncate(MISTAKES_MAX);
        all
    }
}

/// Adds the intended word as help, or else the list of allowed words.
fn suggest(diagnostic: Diagnostic, span: Span, meant: Option<&'static str>, words: &[&'static str]) -> Diagnostic {
    match meant {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")).edit(span, meant),
        None if words.len() == 1 => diagnostic.help(format!("write {}", listed(words))),
        None => diagnostic.help(format!("write one of {}", listed(words))),
    }
}

/// Formats words as `` `a`, `b` or `c` ``.
pub(super) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// Describes a token for messages.
pub(super) fn describe(token: &Token) -> String {
    match token.kind {
        Kind::End => "the end of the file".to_owned(),
        Kind::Text => format!("the text {:?}", token.text),
        _ => format!("`{}`", token.text),
    }
}

/// Returns the most similar word, if one is similar enough.
pub(super) fn nearest(word: &str, words: &[&'static str]) -> Option<&'static str> {
    if word.len() > WORD_MAX {
        return None;
    }
    let word = word.to_lowercase();
    let tolerance = (word.chars().count() / 3).max(1);
    words
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word, &candidate.to_lowercase()), *candidate))
        .filter(|(distance, _)| *distance <= tolerance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the equivalent of a type name from other languages.
fn foreign_type(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let scalar = Scalar::ALL.iter().find(|scalar| scalar.aliases().contains(&word.as_str()));
    match word.as_str() {
        "array" | "vec" => Some("list"),
        "object" | "any" => Some("json"),
        _ => scalar.map(|scalar| scalar.keyword()),
    }
}
