//! Token cursor of one expression; its syntax errors name the token at which parsing stopped.

use super::super::lexer::{self, Token, TokenKind};
use crate::error::Error;
use crate::error::expression::{ExpressionKind, Flaw, invalid};
use crate::limits::{EXPRESSION_BYTES_MAX, EXPRESSION_OPERATORS_MAX};

/// Nesting limit of functions and of parentheses around operands. It bounds the stack; deeper expressions have no
/// practical use.
const DEPTH_MAX: usize = 32;

fn keywords(kind: ExpressionKind) -> &'static [&'static str] {
    match kind {
        ExpressionKind::Condition | ExpressionKind::Filter | ExpressionKind::KeyCondition => {
            &["AND", "OR", "NOT", "BETWEEN", "IN"]
        }
        ExpressionKind::Update => &["SET", "REMOVE", "ADD", "DELETE"],
        ExpressionKind::Projection => &[],
    }
}

/// Tokens of an expression and the current position.
pub(crate) struct Cursor<'t> {
    pub(crate) kind: ExpressionKind,
    text: &'t str,
    tokens: Vec<Token<'t>>,
    position: usize,
    depth: usize,
    operators: usize,
    /// Set if the expression has parentheses directly inside parentheses.
    pub(crate) redundant_parentheses: bool,
}

impl<'t> Cursor<'t> {
    /// Splits the text into tokens.
    ///
    /// # Errors
    /// Returns an error if the text is empty or too long.
    pub(crate) fn new(text: &'t str, kind: ExpressionKind) -> Result<Self, Error> {
        if text.is_empty() {
            return Err(invalid(kind, &Flaw::Empty));
        }
        if text.len() > EXPRESSION_BYTES_MAX {
            return Err(invalid(kind, &Flaw::TooLong));
        }
        let tokens = lexer::tokens(text, keywords(kind));
        Ok(Self { kind, text, tokens, position: 0, depth: 0, operators: 0, redundant_parentheses: false })
    }

    /// Returns the next token without consuming it.
    pub(crate) fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.position).copied()
    }

    /// Returns the kind of the next token.
    pub(crate) fn peek_kind(&self) -> Option<TokenKind> {
        self.peek().map(|token| token.kind)
    }

    /// Returns the kind of the token after the next.
    pub(crate) fn peek_second_kind(&self) -> Option<TokenKind> {
        self.tokens.get(self.position + 1).map(|token| token.kind)
    }

    /// Consumes the next token.
    pub(crate) fn advance(&mut self) {
        self.position += 1;
    }

    /// Consumes the next token if it has this kind.
    pub(crate) fn take(&mut self, kind: TokenKind) -> Option<Token<'t>> {
        let token = self.peek().filter(|token| token.kind == kind)?;
        self.advance();
        Some(token)
    }

    /// Consumes the next token if it is this keyword.
    pub(crate) fn take_keyword(&mut self, keyword: &str) -> bool {
        let found = self.peek_keyword(keyword);
        self.position += usize::from(found);
        found
    }

    /// Returns whether the next token is this keyword.
    pub(crate) fn peek_keyword(&self, keyword: &str) -> bool {
        self.peek().is_some_and(|token| token.is_keyword(keyword))
    }

    /// Consumes a token of this kind.
    ///
    /// # Errors
    /// Returns a syntax error if the next token has another kind.
    pub(crate) fn expect(&mut self, kind: TokenKind) -> Result<Token<'t>, Error> {
        self.take(kind).ok_or_else(|| self.syntax_error())
    }

    /// Consumes this keyword.
    ///
    /// # Errors
    /// Returns a syntax error if the next token is not the keyword.
    pub(crate) fn expect_keyword(&mut self, keyword: &str) -> Result<(), Error> {
        if self.take_keyword(keyword) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Checks that the whole expression was parsed.
    ///
    /// # Errors
    /// Returns an error if tokens are left or there were too many operators.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.peek().is_some() {
            return Err(self.syntax_error());
        }
        if self.operators > EXPRESSION_OPERATORS_MAX {
            // DynamoDB stops counting at the first operator above the limit.
            return Err(self.error(&Flaw::TooManyOperators(EXPRESSION_OPERATORS_MAX + 1)));
        }
        Ok(())
    }

    pub(crate) fn count_operator(&mut self) {
        self.operators += 1;
    }

    /// Counts a function. DynamoDB counts functions as operators in updates but not in conditions.
    pub(crate) fn count_function(&mut self) {
        self.operators += usize::from(self.kind == ExpressionKind::Update);
    }

    /// Runs `inner` one nesting level deeper.
    ///
    /// # Errors
    /// Returns `flaw` if the nesting limit is reached, or the error of `inner`.
    pub(crate) fn nested<T>(
        &mut self,
        flaw: impl FnOnce() -> Flaw,
        inner: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.depth == DEPTH_MAX {
            return Err(self.error(&flaw()));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    pub(crate) fn error(&self, flaw: &Flaw) -> Error {
        invalid(self.kind, flaw)
    }

    /// Returns the syntax error for the next token, or for the end of the text.
    pub(crate) fn syntax_error(&self) -> Error {
        let token = self.peek().map_or("<EOF>", |token| token.text).to_owned();
        self.error(&Flaw::Syntax { token, near: self.near().to_owned() })
    }

    /// Returns the text from the previous token to the one after the next, as DynamoDB's message quotes it.
    fn near(&self) -> &'t str {
        let first = self.tokens.get(self.position.saturating_sub(1)).or(self.tokens.last());
        let last = self.tokens.get(self.position + 1).or(self.tokens.last());
        match (first, last) {
            (Some(first), Some(last)) => &self.text[first.start..last.end()],
            _ => self.text,
        }
    }
}
