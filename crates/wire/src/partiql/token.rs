//! Splits statements into tokens with positions.

use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

use keyform_core::Error;
use keyform_core::error::partiql;

use super::keyword::is_keyword;

/// Position of a token, formatted as in DynamoDB's messages: line, column and length in characters, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenPosition {
    line: usize,
    column: usize,
    length: usize,
}

impl fmt::Display for TokenPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.line, self.column, self.length)
    }
}

/// A token with its position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) place: TokenPosition,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A word that is not a keyword.
    Name(String),
    /// A name in double quotes.
    Quoted(String),
    /// A keyword as written.
    Keyword(String),
    /// A string literal.
    Text(String),
    /// A number without a sign, as written.
    Number(String),
    /// Text between backticks.
    Ion(String),
    /// `?`, numbered from zero.
    Parameter(usize),
    /// One of [`SYMBOLS`].
    Symbol(&'static str),
}

/// Longer symbols first, because the first match wins.
const SYMBOLS: [&str; 25] = [
    "<<", ">>", "<=", ">=", "<>", "!=", "||", "(", ")", "[", "]", "{", "}", ",", ".", ":", ";", "*", "+", "-", "/",
    "%", "=", "<", ">",
];

/// Splits a statement into tokens.
///
/// # Errors
/// Returns an error without a reason, as DynamoDB does, for an unknown character or an unterminated literal.
pub(super) fn tokens(statement: &str) -> Result<Vec<Token>, Error> {
    let mut lexer =
        Lexer { text: statement, rest: statement.char_indices().peekable(), line: 1, column: 1, parameters: 0 };
    let mut tokens = Vec::new();
    while lexer.skip_space()? {
        tokens.push(lexer.token()?);
    }
    Ok(tokens)
}

struct Lexer<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
    line: usize,
    column: usize,
    parameters: usize,
}

impl Lexer<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|(_, char)| *char)
    }

    fn offset(&mut self) -> usize {
        self.rest.peek().map_or(self.text.len(), |(offset, _)| *offset)
    }

    fn starts_with(&mut self, prefix: &str) -> bool {
        let offset = self.offset();
        self.text[offset..].starts_with(prefix)
    }

    fn bump(&mut self) -> Option<char> {
        let (_, char) = self.rest.next()?;
        if char == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(char)
    }

    /// Skips white space and comments; returns whether a token follows.
    fn skip_space(&mut self) -> Result<bool, Error> {
        loop {
            if self.starts_with("--") {
                while self.peek().is_some_and(|char| char != '\n') {
                    self.bump();
                }
            } else if self.starts_with("/*") {
                self.skip_block_comment()?;
            } else if self.peek().is_some_and(|char| char.is_ascii_whitespace()) {
                self.bump();
            } else {
                return Ok(self.peek().is_some());
            }
        }
    }

    fn skip_block_comment(&mut self) -> Result<(), Error> {
        self.bump();
        self.bump();
        while !self.starts_with("*/") {
            self.bump().ok_or_else(unreadable)?;
        }
        self.bump();
        self.bump();
        Ok(())
    }

    fn token(&mut self) -> Result<Token, Error> {
        let (line, column, start) = (self.line, self.column, self.offset());
        let kind = self.kind()?;
        let end = self.offset();
        let length = self.text[start..end].chars().count();
        Ok(Token { kind, place: TokenPosition { line, column, length } })
    }

    fn kind(&mut self) -> Result<TokenKind, Error> {
        match self.peek() {
            Some('\'') => self.delimited('\'').map(TokenKind::Text),
            Some('"') => self.delimited('"').map(TokenKind::Quoted),
            Some('`') => self.delimited('`').map(TokenKind::Ion),
            Some('?') => Ok(self.parameter()),
            Some(char) if starts_name(char) => Ok(self.word()),
            Some(char) if char.is_ascii_digit() => self.number(),
            Some('.') if self.point_starts_number() => self.number(),
            _ => self.symbol(),
        }
    }

    fn point_starts_number(&mut self) -> bool {
        let offset = self.offset();
        self.text.as_bytes().get(offset + 1).is_some_and(u8::is_ascii_digit)
    }

    /// Parses a delimited text. A doubled delimiter stands for the delimiter itself.
    fn delimited(&mut self, delimiter: char) -> Result<String, Error> {
        self.bump();
        let mut text = String::new();
        loop {
            let char = self.bump().ok_or_else(unreadable)?;
            if char != delimiter {
                text.push(char);
            } else if self.peek() == Some(delimiter) {
                self.bump();
                text.push(delimiter);
            } else {
                return Ok(text);
            }
        }
    }

    fn parameter(&mut self) -> TokenKind {
        self.bump();
        self.parameters += 1;
        TokenKind::Parameter(self.parameters - 1)
    }

    fn word(&mut self) -> TokenKind {
        let word = self.take_while(|char| starts_name(char) || char.is_ascii_digit());
        if is_keyword(&word) { TokenKind::Keyword(word) } else { TokenKind::Name(word) }
    }

    fn number(&mut self) -> Result<TokenKind, Error> {
        let mut number = self.digits();
        if self.peek() == Some('.') {
            number.push('.');
            self.bump();
            number.push_str(&self.digits());
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            number.push('e');
            self.bump();
            number.push_str(&self.exponent()?);
        }
        if scale_is_readable(&number) { Ok(TokenKind::Number(number)) } else { Err(unreadable()) }
    }

    fn exponent(&mut self) -> Result<String, Error> {
        let mut exponent = String::new();
        if let Some(sign @ ('+' | '-')) = self.peek() {
            exponent.push(sign);
            self.bump();
        }
        let digits = self.digits();
        if digits.is_empty() {
            return Err(unreadable());
        }
        Ok(exponent + &digits)
    }

    fn digits(&mut self) -> String {
        self.take_while(|char| char.is_ascii_digit())
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> String {
        let mut taken = String::new();
        while let Some(char) = self.peek().filter(|char| accept(*char)) {
            taken.push(char);
            self.bump();
        }
        taken
    }

    fn symbol(&mut self) -> Result<TokenKind, Error> {
        let symbol = SYMBOLS.into_iter().find(|symbol| self.starts_with(symbol)).ok_or_else(unreadable)?;
        for _ in symbol.chars() {
            self.bump();
        }
        Ok(TokenKind::Symbol(symbol))
    }
}

fn starts_name(char: char) -> bool {
    char.is_ascii_alphabetic() || char == '_' || char == '$'
}

fn unreadable() -> Error {
    partiql::malformed("")
}

/// Returns whether exponent and scale (digits after the point minus the exponent) fit into 32 bits, as in DynamoDB.
fn scale_is_readable(number: &str) -> bool {
    let (mantissa, exponent) = number.split_once('e').unwrap_or((number, "0"));
    let Ok(exponent) = exponent.parse::<i32>() else { return false };
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    i32::try_from(decimals as i64 - i64::from(exponent)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(statement: &str) -> String {
        let tokens = match tokens(statement) {
            Ok(tokens) => tokens,
            Err(error) => return error.to_string(),
        };
        let print = |token: Token| match token.kind {
            TokenKind::Name(text) => format!("name {text}"),
            TokenKind::Quoted(text) => format!("quoted {text}"),
            TokenKind::Keyword(text) => format!("keyword {text}"),
            TokenKind::Text(text) => format!("text {text}"),
            TokenKind::Number(text) => format!("number {text}"),
            TokenKind::Ion(text) => format!("ion {text}"),
            TokenKind::Parameter(place) => format!("? {place}"),
            TokenKind::Symbol(text) => text.to_owned(),
        };
        tokens.into_iter().map(print).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn statements_are_cut_into_tokens() {
        let malformed = "ValidationException: Statement wasn't well formed, can't be processed: ";
        for (statement, expected) in [
            ("Select a1 FROM \"x\"\"y\"", "keyword Select | name a1 | keyword FROM | quoted x\"y"),
            ("'it''s' ''", "text it's | text "),
            (
                "1 1.5 .5 2e3 2E+3 1.2.3 5.",
                "number 1 | number 1.5 | number .5 | number 2e3 | number 2e+3 | number 1.2 | number .3 | number 5.",
            ),
            ("5x -1", "number 5 | name x | - | number 1"),
            ("<<1>> <= >= <> != < >", "<< | number 1 | >> | <= | >= | <> | != | < | >"),
            ("? a.b[?]", "? 0 | name a | . | name b | [ | ? 1 | ]"),
            ("a -- b\n c /* d ' */ e", "name a | name c | name e"),
            ("$1", "name $1"),
            ("`x`", "ion x"),
            ("'a", malformed),
            ("\"a", malformed),
            ("/* a", malformed),
            ("a # b", malformed),
            ("5e", malformed),
            ("1e2147483648", malformed),
            ("1.5e-2147483647", malformed),
            ("é", malformed),
            ("'é'", "text é"),
        ] {
            assert_eq!(printed(statement), expected, "{statement}");
        }
    }

    #[test]
    fn places_count_characters_and_lines() {
        let tokens = tokens("'é' a\n  bc").unwrap();
        let places: Vec<String> = tokens.iter().map(|token| token.place.to_string()).collect();
        assert_eq!(places, ["1:1:3", "1:5:1", "2:3:2"]);
    }
}
