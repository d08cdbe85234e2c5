//! A place in a list of tokens.

use keyform_core::Error;
use keyform_core::error::partiql;

use super::syntax::DEPTH_MAX;
use super::token::{Token, TokenKind};

/// The tokens that are left, how deep the brackets are and how many operators were seen.
pub(super) struct Cursor {
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
    depth: usize,
    /// How many operators and functions there were.
    pub(super) operators: usize,
}

impl Cursor {
    /// At the first token.
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens: tokens.into_iter().peekable(), depth: 0, operators: 0 }
    }

    /// The next token, taken.
    pub(super) fn next(&mut self) -> Option<Token> {
        self.tokens.next()
    }

    /// The next token, left where it is.
    pub(super) fn peek(&mut self) -> Option<&Token> {
        self.tokens.peek()
    }

    /// Whether there is nothing left but perhaps a semicolon.
    pub(super) fn at_end(&mut self) -> bool {
        self.peek().is_none() || self.at_symbol(";")
    }

    /// Whether the symbol is next.
    pub(super) fn at_symbol(&mut self, symbol: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: TokenKind::Symbol(found), .. }) if *found == symbol)
    }

    /// Takes the symbol if it is next.
    pub(super) fn eat_symbol(&mut self, symbol: &str) -> bool {
        self.at_symbol(symbol) && self.next().is_some()
    }

    /// Whether the keyword is next.
    pub(super) fn at_keyword(&mut self, keyword: &str) -> bool {
        matches!(self.peek(), Some(Token { kind: TokenKind::Keyword(found), .. }) if found.eq_ignore_ascii_case(keyword))
    }

    /// Takes the keyword if it is next.
    pub(super) fn eat_keyword(&mut self, keyword: &str) -> bool {
        self.at_keyword(keyword) && self.next().is_some()
    }

    /// Whether a name is next that is the word.
    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(
            self.peek(),
            Some(Token { kind: TokenKind::Name(found) | TokenKind::Keyword(found), .. }) if found.eq_ignore_ascii_case(word)
        );
        found && self.next().is_some()
    }

    /// Takes the symbol, or refuses the statement.
    pub(super) fn expect_symbol(&mut self, symbol: &str, reason: &str) -> Result<(), Error> {
        if self.eat_symbol(symbol) { Ok(()) } else { Err(partiql::malformed(reason)) }
    }

    /// Takes the keyword, or refuses the statement.
    pub(super) fn expect_keyword(&mut self, keyword: &str, reason: &str) -> Result<(), Error> {
        if self.eat_keyword(keyword) { Ok(()) } else { Err(partiql::malformed(reason)) }
    }

    /// Reads something one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == DEPTH_MAX {
            return Err(partiql::malformed("Statement is nested too deeply to parse"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads elements with commas between, up to the closing symbol.
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
