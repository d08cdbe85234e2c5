//! Splits the text of a model into tokens and comments.
//!
//! The lexer accepts any input. It reports input that is not a token and emits a [`Kind::Bad`], which the parser skips
//! silently. The parser, not the lexer, recognizes keywords, so a field may have any name.

use crate::diagnostic::{Code, Diagnostic};
use crate::span::Span;

use super::token::{Comment, Kind, Token};

/// String without closing quote.
const UNCLOSED_TEXT: Code = Code("S02");
/// Character that the language does not use.
const UNKNOWN_CHARACTER: Code = Code("S04");
/// Unknown escape sequence in a string.
const BAD_ESCAPE: Code = Code("S10");

/// Punctuation, longest match first.
const MARKS: [&str; 25] = [
    "->", "<=", ">=", "!=", "+=", "-=", "..", "{", "}", "(", ")", "[", "]", "<", ">", "=", "+", "-", ",", ":", ".",
    "?", "|", "/", "%",
];

/// Operators of other languages, with the token each is read as and the spelling the diagnostic suggests.
const FOREIGN: [(&str, Kind, &str); 5] = [
    ("===", Kind::Mark("="), "="),
    ("==", Kind::Mark("="), "="),
    ("=>", Kind::Mark("->"), "->"),
    ("&&", Kind::Word, "and"),
    ("||", Kind::Word, "or"),
];

/// Output of the lexer.
#[derive(Debug)]
pub struct Lexed {
    /// Tokens in source order; the last is [`Kind::End`].
    pub tokens: Vec<Token>,
    /// Comments in source order.
    pub comments: Vec<Comment>,
    /// Lexical errors in source order.
    pub problems: Vec<Diagnostic>,
}

/// Splits a text into tokens and comments.
#[must_use]
pub fn lex(text: &str) -> Lexed {
    let mut lexer = Lexer {
        text,
        at: 0,
        indent: 0,
        breaks: 1,
        lexed: Lexed { tokens: Vec::new(), comments: Vec::new(), problems: Vec::new() },
    };
    lexer.run();
    lexer.lexed
}

/// State of the lexer.
struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// Indentation of the current line in bytes.
    indent: usize,
    /// Line breaks since the last token or comment; 1 at the start of the file, so that its first token counts as first
    /// of a line.
    breaks: usize,
    lexed: Lexed,
}

impl Lexer<'_> {
    fn run(&mut self) {
        if self.rest().starts_with('\u{feff}') {
            self.at += '\u{feff}'.len_utf8();
        }
        while let Some(next) = self.rest().chars().next() {
            match next {
                '\n' => self.line_break(),
                next if next.is_whitespace() => self.at += next.len_utf8(),
                '"' | '\'' => self.text(next),
                '`' => self.quoted_name(),
                '0'..='9' => self.number(),
                next if begins_word(next) => self.word(),
                '/' if self.rest().starts_with("//") => self.comment(),
                _ => self.mark(next),
            }
        }
        self.push(Kind::End, self.at, String::new());
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn line_break(&mut self) {
        self.at += 1;
        self.breaks += 1;
        let rest = self.rest();
        self.indent = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Appends the token that began at `start` and ends here.
    fn push(&mut self, kind: Kind, start: usize, text: String) {
        let (first, gap) = self.place();
        let span = Span::new(start, self.at);
        self.lexed.tokens.push(Token { kind, text, span, first, gap, indent: self.indent });
    }

    /// Returns whether the next token is the first of its line, and whether an empty line precedes it; resets the count
    /// of line breaks.
    fn place(&mut self) -> (bool, bool) {
        let breaks = std::mem::take(&mut self.breaks);
        (breaks > 0, breaks > 1)
    }

    fn word(&mut self) {
        let start = self.at;
        let length = self.rest().find(|next| !continues_word(next)).unwrap_or(self.rest().len());
        self.at += length;
        self.push(Kind::Word, start, self.text[start..self.at].to_owned());
    }

    fn number(&mut self) {
        let start = self.at;
        self.digits();
        let mut rest = self.rest().chars();
        if rest.next() == Some('.') && rest.next().is_some_and(|next| next.is_ascii_digit()) {
            self.at += 1;
            self.digits();
        }
        let unit = self.rest().find(|next| !continues_word(next)).unwrap_or(self.rest().len());
        self.at += unit;
        self.push(Kind::Number, start, self.text[start..self.at].to_owned());
    }

    fn digits(&mut self) {
        let length = self.rest().find(|next: char| !next.is_ascii_digit()).unwrap_or(self.rest().len());
        self.at += length;
    }

    fn comment(&mut self) {
        let start = self.at;
        let line = self.rest().split('\n').next().unwrap_or_default();
        let slashes = line.len() - line.trim_start_matches('/').len();
        let doc = slashes == 3;
        let text = &line[if doc { 3 } else { 2 }..];
        let text = text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned();
        self.at += line.len();
        let (first, gap) = self.place();
        self.lexed.comments.push(Comment { text, span: Span::new(start, self.at), doc, first, gap });
    }

    fn quoted_name(&mut self) {
        let start = self.at;
        self.at += 1;
        let length = self.rest().find(['`', '\n', '\r']).unwrap_or(self.rest().len());
        let text = self.rest()[..length].to_owned();
        self.at += length;
        if self.rest().starts_with('`') {
            self.at += 1;
        } else {
            self.problem(
                Diagnostic::error(UNCLOSED_TEXT, Span::new(start, self.at), "this name has no closing backtick")
                    .help("end the name with a backtick on the same line"),
            );
        }
        self.push(Kind::Name, start, text);
    }

    fn text(&mut self, quote: char) {
        let start = self.at;
        self.at += 1;
        let (text, closed) = self.text_content(quote);
        let span = Span::new(start, self.at);
        if !closed {
            self.problem(
                Diagnostic::error(UNCLOSED_TEXT, span, format!("this string has no closing `{quote}`"))
                    .help("end the string with `\"` on the same line"),
            );
        } else if quote == '\'' {
            self.problem(
                Diagnostic::error(UNKNOWN_CHARACTER, span, "a string stands in double quotes")
                    .help(format!("write `\"{text}\"`"))
                    .edit(span, format!("\"{text}\"")),
            );
        }
        self.push(Kind::Text, start, text);
    }

    /// Reads a string up to its closing quote or the end of the line; returns false if the quote is missing.
    fn text_content(&mut self, quote: char) -> (String, bool) {
        let mut text = String::new();
        while let Some(next) = self.rest().chars().next() {
            match next {
                '\n' | '\r' => return (text, false),
                '\\' => self.escape(&mut text),
                next => {
                    self.at += next.len_utf8();
                    if next == quote {
                        return (text, true);
                    }
                    text.push(next);
                }
            }
        }
        (text, false)
    }

    fn escape(&mut self, text: &mut String) {
        let start = self.at;
        self.at += 1;
        let next = self.rest().chars().next();
        match next {
            Some('"') => text.push('"'),
            Some('\\') => text.push('\\'),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('\n' | '\r') | None => return,
            Some(other) => {
                let span = Span::new(start, self.at + other.len_utf8());
                self.problem(
                    Diagnostic::error(BAD_ESCAPE, span, format!("`\\{other}` is not an escape sequence"))
                        .help("the escape sequences are `\\\"`, `\\\\`, `\\n` and `\\r`; write `\\\\` for a backslash"),
                );
                text.push(other);
            }
        }
        self.at += next.map_or(0, char::len_utf8);
    }

    fn mark(&mut self, next: char) {
        let start = self.at;
        if let Some((foreign, kind, own)) = FOREIGN.iter().find(|(foreign, ..)| self.rest().starts_with(foreign)) {
            self.at += foreign.len();
            self.foreign(Span::new(start, self.at), own);
            self.push(*kind, start, (*own).to_owned());
        } else if let Some(mark) = MARKS.iter().find(|mark| self.rest().starts_with(**mark)) {
            self.at += mark.len();
            self.push(Kind::Mark(mark), start, (*mark).to_owned());
        } else {
            self.unknown(next);
        }
    }

    fn foreign(&mut self, span: Span, own: &str) {
        let written = &self.text[span.start..span.end];
        self.problem(
            Diagnostic::error(UNKNOWN_CHARACTER, span, format!("write `{own}` instead of `{written}`"))
                .help(format!("write `{own}`"))
                .edit(span, own),
        );
    }

    fn unknown(&mut self, next: char) {
        let start = self.at;
        self.at += next.len_utf8();
        let span = Span::new(start, self.at);
        let shown = next.escape_debug();
        let help = match next {
            ';' => "lines end without a semicolon: remove it",
            '#' => "a comment begins with `//`",
            '!' => "write `not` before a condition, `!=` between two values",
            '&' => "write `and`",
            '$' => "a variable stands in braces within a string: `\"{stage}\"`",
            _ => "remove it; a name with characters other than letters, digits and `_` stands in backticks",
        };
        self.problem(
            Diagnostic::error(UNKNOWN_CHARACTER, span, format!("unexpected character `{shown}`")).help(help.to_owned()),
        );
        if next == '#' {
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
        self.push(Kind::Bad, start, next.to_string());
    }

    fn problem(&mut self, problem: Diagnostic) {
        self.lexed.problems.push(problem);
    }
}

/// Returns true if a word can begin with this character.
#[must_use]
pub fn begins_word(next: char) -> bool {
    next == '_' || next.is_alphabetic()
}

/// Returns true if a word can contain this character after its first.
#[must_use]
pub fn continues_word(next: char) -> bool {
    next == '_' || next.is_alphanumeric()
}
