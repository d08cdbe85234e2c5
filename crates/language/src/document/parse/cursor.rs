//! Token access: lookahead, consuming, and expecting tokens.

use crate::document::ast::{Name, Text};
use crate::document::token::{Kind, Token};
use crate::span::Span;

use super::{Parsed, Parser, Reported};

impl Parser<'_> {
    /// Returns the next token.
    pub(super) fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    /// Returns the token `distance` positions ahead.
    pub(super) fn peek_at(&self, distance: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + distance).min(last)]
    }

    /// Returns the token consumed last.
    pub(super) fn previous(&self) -> Option<&Token> {
        self.at.checked_sub(1).map(|at| &self.tokens[at])
    }

    /// Returns the end offset of the token consumed last.
    pub(super) fn end(&self) -> usize {
        self.previous().map_or(0, |token| token.span.end)
    }

    /// Returns the span from `start` to the token consumed last.
    pub(super) fn since(&self, start: usize) -> Span {
        Span::new(start, self.end().max(start))
    }

    /// Consumes the next token, unless it is the end of the file.
    pub(super) fn bump(&mut self) {
        match self.peek().kind {
            Kind::End => return,
            Kind::Mark("{") => self.brace_depth += 1,
            Kind::Mark("}") => self.brace_depth = self.brace_depth.saturating_sub(1),
            Kind::Mark("(" | "[") => self.paren_depth += 1,
            Kind::Mark(")" | "]") => self.paren_depth = self.paren_depth.saturating_sub(1),
            _ => {}
        }
        self.at += 1;
    }

    pub(super) fn at_end(&self) -> bool {
        self.peek().kind == Kind::End
    }

    pub(super) fn at_mark(&self, mark: &str) -> bool {
        self.peek().is_mark(mark)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.peek().is_word(word)
    }

    /// Consumes this punctuation if it comes next.
    pub(super) fn eat_mark(&mut self, mark: &str) -> bool {
        let there = self.at_mark(mark);
        if there {
            self.bump();
        }
        there
    }

    /// Consumes this word if it comes next.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let there = self.at_word(word);
        if there {
            self.bump();
        }
        there
    }

    /// Consumes this punctuation or reports it missing; `what` completes the message.
    pub(super) fn expect_mark(&mut self, mark: &str, what: &str) -> Parsed<()> {
        if self.eat_mark(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}` {what}"))) }
    }

    /// Consumes this word or reports it missing; `what` completes the message.
    pub(super) fn expect_word(&mut self, word: &str, what: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}` {what}"))) }
    }

    /// Parses a name; `what` describes it in messages.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        if !self.peek().is_name() {
            return Err(self.expected(what));
        }
        Ok(self.take_name())
    }

    /// Parses a name that must be on the same line as the previous token.
    pub(super) fn name_here(&mut self, what: &str) -> Parsed<Name> {
        if self.peek().first { Err(self.expected(what)) } else { self.name(what) }
    }

    /// Consumes the next token as a name without checking its kind.
    pub(super) fn take_name(&mut self) -> Name {
        let token = self.peek();
        let name = Name { text: token.text.clone(), span: token.span };
        self.bump();
        name
    }

    /// Parses a quoted string; `what` describes it in messages.
    pub(super) fn quoted(&mut self, what: &str) -> Parsed<Text> {
        if self.peek().kind != Kind::Text {
            return Err(self.expected(what));
        }
        let token = self.peek();
        let text = Text { text: token.text.clone(), span: token.span };
        self.bump();
        Ok(text)
    }

    /// Parses `element, element, …` and consumes `close`. A trailing comma is allowed.
    pub(super) fn list<T>(
        &mut self,
        close: &str,
        what: &str,
        mut element: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut elements = Vec::new();
        while !self.at_mark(close) {
            elements.push(element(self)?);
            if !self.eat_mark(",") && !self.at_mark(close) {
                return Err(self.expected(&format!("`,` or `{close}` {what}")));
            }
        }
        self.bump();
        Ok(elements)
    }

    /// Parses `element, element, …` without a closing token; `more` decides if an element follows a comma.
    pub(super) fn chain<T>(
        &mut self,
        more: impl Fn(&Self) -> bool,
        mut element: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut elements = vec![element(self)?];
        while self.at_mark(",") && more(self) {
            self.bump();
            elements.push(element(self)?);
        }
        Ok(elements)
    }

    /// Returns true if the token after the comma is on the same line.
    pub(super) fn same_line_follows(&self) -> bool {
        !self.peek_at(1).first
    }

    /// Parses a recursive construct, or reports that it is nested too deep.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= super::DEPTH_MAX {
            return Err(self.too_deep());
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Splits `>=` into `>` and `=`, as in `map<string>= {}`.
    pub(super) fn split_angle(&mut self) {
        if self.at_mark(">=") {
            let whole = self.peek().clone();
            let middle = whole.span.start + 1;
            let token = |mark: &'static str, span| Token {
                kind: Kind::Mark(mark),
                text: mark.to_owned(),
                span,
                ..whole.clone()
            };
            let second = Token { first: false, gap: false, ..token("=", Span::new(middle, whole.span.end)) };
            self.tokens[self.at] = token(">", Span::new(whole.span.start, middle));
            self.tokens.insert(self.at + 1, second);
        }
    }

    /// Returns the proof for an error that was reported before; used where a token is [`Kind::Bad`].
    pub(super) const fn reported() -> Reported {
        Reported
    }
}
