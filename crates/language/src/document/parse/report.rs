//! How a mistake is said, and which of them are not said again.

use std::collections::BTreeSet;

use crate::diagnostic::{Code, Diagnostic};
use crate::document::token::{Kind, Token};
use crate::span::Span;

use super::{Parser, Reported};

/// Something stands where something else must.
pub(super) const UNEXPECTED: Code = Code("S01");
/// A brace is not closed.
pub(super) const UNCLOSED_BRACE: Code = Code("S03");
/// A word that begins nothing here.
pub(super) const UNKNOWN_WORD: Code = Code("S05");
/// A word that is no type.
pub(super) const UNKNOWN_TYPE: Code = Code("S06");
/// A word that is no flag.
pub(super) const UNKNOWN_FLAG: Code = Code("S07");
/// A number that cannot be read.
pub(super) const BAD_NUMBER: Code = Code("S08");
/// Bounds that hold nothing.
pub(super) const BAD_BOUNDS: Code = Code("S09");
/// Something is said twice.
pub(super) const DUPLICATE: Code = Code("S13");
/// Nested too deep.
pub(super) const TOO_DEEP: Code = Code("S14");
/// The file has no `model`.
pub(super) const NO_MODEL: Code = Code("S15");

/// A longer word is not compared with others.
const WORD_MAX: usize = 40;

/// A mistake, with the end of what was read before it.
#[derive(Debug)]
pub(super) struct Mistake {
    diagnostic: Diagnostic,
    /// Where the token before it ends.
    after: usize,
}

impl Parser<'_> {
    /// Reports a mistake, unless the last one was at the same place.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        let after = self.end();
        let start = diagnostic.primary.span.start;
        if self.mistakes.last().is_some_and(|last| last.diagnostic.primary.span.start == start) {
            return Reported;
        }
        self.mistakes.push(Mistake { diagnostic, after });
        Reported
    }

    /// Reports that something else was expected than what comes next.
    pub(super) fn expected(&mut self, what: &str) -> Reported {
        let found = self.found();
        self.expected_instead(what, &found, None)
    }

    /// The same, with what to write.
    pub(super) fn expected_with(&mut self, what: &str, help: &str) -> Reported {
        let found = self.found();
        self.expected_instead(what, &found, Some(help))
    }

    /// What stands where something else was expected.
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

    /// The place of the next token, or the end of the line if the next token is on another one.
    fn expected_span(&self) -> Span {
        let next = self.peek();
        let end = self.end();
        if (next.first || next.kind == Kind::End) && end > 0 { self.last_of(end) } else { next.span }
    }

    /// The last character before `end`, so that there is something to point to.
    fn last_of(&self, end: usize) -> Span {
        let length = self.text[..end].chars().next_back().map_or(0, char::len_utf8);
        Span::new(end - length, end)
    }

    /// Reports a word that is none of those that may stand here; gives the one that was meant, if that is clear.
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

    /// Reports a word that is no type.
    pub(super) fn unknown_type(&mut self, word: &str, span: Span, types: &[&'static str]) {
        let meant = foreign_type(word).or_else(|| nearest(word, types));
        let diagnostic = Diagnostic::error(UNKNOWN_TYPE, span, format!("`{word}` is no type"));
        self.report(suggest(diagnostic, span, meant, types));
    }

    /// Reports a word that is no flag.
    pub(super) fn unknown_flag(&mut self, word: &str, span: Span, flags: &[&'static str]) {
        let diagnostic = Diagnostic::error(UNKNOWN_FLAG, span, format!("`{word}` is no flag of a field"));
        self.report(suggest(diagnostic, span, nearest(word, flags), flags));
    }

    /// Whether the last mistake was at `start` or later.
    pub(super) fn mistake_since(&self, start: usize) -> bool {
        self.mistakes.last().is_some_and(|mistake| mistake.diagnostic.primary.span.start >= start)
    }

    /// Reports that something is said twice.
    pub(super) fn duplicate(&mut self, what: &str, first: Span, second: Span) {
        let diagnostic = Diagnostic::error(DUPLICATE, second, format!("{what} is said twice"))
            .also(first, "the first time")
            .help("keep one of them");
        self.report(diagnostic);
    }

    /// Reports that something is nested too deep.
    pub(super) fn too_deep(&mut self) -> Reported {
        let message = format!("this is nested more than {} levels deep", super::DEPTH_MAX);
        let span = self.peek().span;
        self.report(Diagnostic::error(TOO_DEEP, span, message).help("split it into several lines or declarations"))
    }

    /// All mistakes in the order of the file: those of the lexer, and those of the parser that do not follow from them.
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
        all
    }
}

/// Adds what was meant, or what may stand there.
fn suggest(diagnostic: Diagnostic, span: Span, meant: Option<&'static str>, words: &[&'static str]) -> Diagnostic {
    match meant {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")).edit(span, meant),
        None if words.len() == 1 => diagnostic.help(format!("write {}", listed(words))),
        None => diagnostic.help(format!("write one of {}", listed(words))),
    }
}

/// `` `a`, `b` or `c` ``
pub(super) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// A token in a message.
pub(super) fn describe(token: &Token) -> String {
    match token.kind {
        Kind::End => "the end of the file".to_owned(),
        Kind::Text => format!("the text {:?}", token.text),
        _ => format!("`{}`", token.text),
    }
}

/// The word that was probably meant.
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

/// The type that other languages call so.
fn foreign_type(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "text" | "str" | "varchar" | "char" => "string",
        "integer" | "long" | "short" | "i32" | "i64" | "u32" | "u64" | "bigint" => "int",
        "float" | "double" | "decimal" | "f32" | "f64" => "number",
        "boolean" => "bool",
        "blob" | "bytes" | "buffer" => "binary",
        "guid" => "uuid",
        "array" | "vec" => "list",
        "object" | "any" => "json",
        "time" | "instant" | "iso8601" => "timestamp",
        "uri" => "url",
        "ttl" => "epoch",
        _ => return None,
    })
}
