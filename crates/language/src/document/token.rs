//! Tokens and comments with their source positions.

use crate::span::Span;

/// Kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A keyword or a name; the parser decides by context.
    Word,
    /// A name in backticks, never a keyword.
    Name,
    /// A quoted string.
    Text,
    /// A number with its unit suffix: `12`, `1.5`, `30d`, `2M`.
    Number,
    /// Punctuation such as `{` or `->`.
    Mark(&'static str),
    /// Input that is not a token. The lexer has reported it.
    Bad,
    /// End of file.
    End,
}

/// A token with its position and layout.
#[derive(Clone, Debug)]
pub struct Token {
    /// Lexical kind.
    pub kind: Kind,
    /// Text of the token; for strings and quoted names without quotes, escapes decoded.
    pub text: String,
    /// Source range, quotes included.
    pub span: Span,
    /// True if it is the first token of its line.
    pub first: bool,
    /// True if an empty line precedes it.
    pub gap: bool,
    /// Indentation of its line in bytes.
    pub indent: usize,
}

impl Token {
    /// Returns true if the token is this punctuation.
    #[must_use]
    pub fn is_mark(&self, mark: &str) -> bool {
        matches!(self.kind, Kind::Mark(own) if own == mark)
    }

    /// Returns true if the token is this unquoted word.
    #[must_use]
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    /// Returns true if the token can be a name.
    #[must_use]
    pub fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Name)
    }
}

/// A comment or a documentation line.
#[derive(Clone, Debug)]
pub struct Comment {
    /// Text without the slashes and the space after them.
    pub text: String,
    /// Source range, slashes included.
    pub span: Span,
    /// True for documentation (`///`).
    pub doc: bool,
    /// True if it is the first on its line; false for a comment after code.
    pub first: bool,
    /// True if an empty line precedes it.
    pub gap: bool,
}
