//! A walk over the tokens of one expression, and the error that names the token at which it ended.

use super::super::lexer::{self, Token, TokenKind};
use crate::error::Error;
use crate::error::expression::{ExpressionKind, Flaw, invalid};
use crate::limits::{EXPRESSION_BYTES_MAX, EXPRESSION_OPERATORS_MAX};

/// How deep functions, and parentheses around operands, nest. Functions of functions of functions have no use; the bound keeps
/// the stack small.
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

/// The tokens of an expression and how far they were read.
pub(crate) struct Cursor<'t> {
    pub(crate) kind: ExpressionKind,
    text: &'t str,
    tokens: Vec<Token<'t>>,
    position: usize,
    depth: usize,
    /// Operators seen so far.
    operators: usize,
    /// Whether parentheses stood directly inside parentheses.
    pub(crate) redundant_parentheses: bool,
}

impl<'t> Cursor<'t> {
    /// Cuts the text into tokens.
    ///
    /// # Errors
    /// When the text is empty or too long.
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

    /// The next token, if there is one.
    pub(crate) fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.position).copied()
    }

    /// The kind of the next token.
    pub(crate) fn peek_kind(&self) -> Option<TokenKind> {
        self.peek().map(|token| token.kind)
    }

    /// The kind of the token after the next.
    pub(crate) fn peek_second_kind(&self) -> Option<TokenKind> {
        self.tokens.get(self.position + 1).map(|token| token.kind)
    }

    /// Passes the next token.
    pub(crate) fn advance(&mut self) {
        self.position += 1;
    }

    /// Passes the next token if it is of that kind.
    pub(crate) fn take(&mut self, kind: TokenKind) -> Option<Token<'t>> {
        let token = self.peek().filter(|token| token.kind == kind)?;
        self.advance();
        Some(token)
    }

    /// Passes the next token if it is that keyword.
    pub(crate) fn take_keyword(&mut self, keyword: &str) -> bool {
        let found = self.peek_keyword(keyword);
        self.position += usize::from(found);
        found
    }

    /// Whether the next token is that keyword.
    pub(crate) fn peek_keyword(&self, keyword: &str) -> bool {
        self.peek().is_some_and(|token| token.is_keyword(keyword))
    }

    /// Passes a token of that kind.
    ///
    /// # Errors
    /// When the next token is another.
    pub(crate) fn expect(&mut self, kind: TokenKind) -> Result<Token<'t>, Error> {
        self.take(kind).ok_or_else(|| self.syntax_error())
    }

    /// Passes that keyword.
    ///
    /// # Errors
    /// When the next token is another.
    pub(crate) fn expect_keyword(&mut self, keyword: &str) -> Result<(), Error> {
        if self.take_keyword(keyword) { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Ends the walk.
    ///
    /// # Errors
    /// When tokens are left, or there were too many operators.
    pub(crate) fn end(&self) -> Result<(), Error> {
        if self.peek().is_some() {
            return Err(self.syntax_error());
        }
        if self.operators > EXPRESSION_OPERATORS_MAX {
            // The service stops counting at the first that is too many.
            return Err(self.error(&Flaw::TooManyOperators(EXPRESSION_OPERATORS_MAX + 1)));
        }
        Ok(())
    }

    /// Notes an operator.
    pub(crate) fn count_operator(&mut self) {
        self.operators += 1;
    }

    /// Notes a function. The service counts functions of updates as operators, those of conditions not.
    pub(crate) fn count_function(&mut self) {
        self.operators += usize::from(self.kind == ExpressionKind::Update);
    }

    /// Runs `inner` one level deeper.
    ///
    /// # Errors
    /// When that is too deep, which is reported as `flaw` says, or `inner` fails.
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

    /// The expression is refused for that reason.
    pub(crate) fn error(&self, flaw: &Flaw) -> Error {
        invalid(self.kind, flaw)
    }

    /// The next token, or the end, must not be here.
    pub(crate) fn syntax_error(&self) -> Error {
        let token = self.peek().map_or("<EOF>", |token| token.text).to_owned();
        self.error(&Flaw::Syntax { token, near: self.near().to_owned() })
    }

    /// The text from the token before the next to the one after it.
    fn near(&self) -> &'t str {
        let first = self.tokens.get(self.position.saturating_sub(1)).or(self.tokens.last());
        let last = self.tokens.get(self.position + 1).or(self.tokens.last());
        match (first, last) {
            (Some(first), Some(last)) => &self.text[first.start..last.end()],
            _ => self.text,
        }
    }
}
