//! Token cursor of one statement.

use keyform_core::Error;
use keyform_core::error::partiql;

use super::syntax::DEPTH_MAX;
use super::token::{Token, TokenKind};

/// Remaining tokens, current nesting depth, and number of operators.
pub(super) struct Cursor {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
    depth: usize,
    /// Number of operators and functions consumed so far.
    pub(super) operators: usize,
}

impl Cursor {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens: tokens.into_iter().peekable(), depth: 0, operators: 0 }
    }

    /// Consumes and returns the next token.
    pub(super) fn next(&mut self) -> Option<Token> {
        self.tokens.next()
    }

    /// Returns the next token without consuming it.
    pub(super) fn peek(&mut self) -> Option<&Token> {
        self.tokens.peek()
    }

    /// Returns whether nothing is left except possibly a semicolon.
    pub(super) fn at_end(&mut self) -> bool {
        self.peek().is_none() || self.at_symbol(";")
    }

    /// Returns whether the next token is this symbol.
    pub(super) fn at_symbol(&mut self, symbol: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: TokenKind::Symbol(found), .. }) if *found == symbol)
    }

    /// Consumes the symbol if it is next; returns whether it was.
    pub(super) fn eat_symbol(&mut self, symbol: &str) -> bool {
        self.at_symbol(symbol) && self.next().is_some()
    }

    /// Returns whether the next token is this keyword, ignoring case.
    pub(super) fn at_keyword(&mut self, keyword: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: TokenKind::Keyword(found), .. }) if found.eq_ignore_ascii_case(keyword))
    }

    /// Consumes the keyword if it is next; returns whether it was.
    pub(super) fn eat_keyword(&mut self, keyword: &str) -> bool {
        self.at_keyword(keyword) && self.next().is_some()
    }

    /// Consumes the word if it is next, as a name or a keyword; returns whether it was.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(
            self.peek(),
            Some(Token { kind: TokenKind::Name(found) | TokenKind::Keyword(found), .. }) if found.eq_ignore_ascii_case(word)
        );
        found && self.next().is_some()
    }

    /// Consumes the symbol, or returns a syntax error with this reason.
    pub(super) fn expect_symbol(&mut self, symbol: &str, reason: &str) -> Result<(), Error> {
        if self.eat_symbol(symbol) { Ok(()) } else { Err(partiql::malformed(reason)) }
    }

    /// Consumes the keyword, or returns a syntax error with this reason.
    pub(super) fn expect_keyword(&mut self, keyword: &str, reason: &str) -> Result<(), Error> {
        if self.eat_keyword(keyword) { Ok(()) } else { Err(partiql::malformed(reason)) }
    }

    /// Runs `read` one nesting level deeper; returns an error at the nesting limit.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == DEPTH_MAX {
            return Err(partiql::malformed("Statement is nested too deeply to parse"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Parses elements separated by commas, up to and including the closing symbol.
    pub(super) fn elements<T>(
        &mut self,
        close: &str,
        reason: &str,
        mut read: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut elements = Vec::new();
        if self.eat_symbol(close) {
            return Ok(elements);
        }
        loop {
            elements.push(self.nested(&mut read)?);
            if !self.eat_symbol(",") {
                self.expect_symbol(close, reason)?;
                return Ok(elements);
            }
        }
    }
}
