//! The words and marks of a model, each with its place.

use crate::span::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A word: a keyword or a name, which only the place decides.
    Word,
    /// A name in backticks, which is never a keyword.
    Name,
    /// A text in quotes.
    Text,
    /// A number with the letters that follow it at once: `12`, `1.5`, `30d`, `2M`.
    Number,
    /// A mark such as `{` or `->`.
    Mark(&'static str),
    /// Something that is no token; it has been reported.
    Bad,
    /// The end of the file.
    End,
}

/// A token.
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its text; of texts and quoted names without quotes and escapes.
    pub text: String,
    /// Its place.
    pub span: Span,
    /// It is the first of its line.
    pub first: bool,
    /// An empty line stands before it.
    pub gap: bool,
    /// How far its line is indented, in bytes.
    pub indent: usize,
}

impl Token {
    /// Whether it is this mark.
    #[must_use]
    pub fn is_mark(&self, mark: &str) -> bool {
        matches!(self.kind, Kind::Mark(own) if own == mark)
    }

    /// Whether it is this word.
    #[must_use]
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text == word
    }

    /// Whether it can be a name.
    #[must_use]
    pub fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::Name)
    }
}

/// A comment or a line of documentation.
#[derive(Clone, Debug)]
pub struct Comment {
    /// The text without the slashes and the space after them.
    pub text: String,
    /// Its place.
    pub span: Span,
    /// Documentation: three slashes.
    pub doc: bool,
    /// It has a line of its own.
    pub first: bool,
    /// An empty line stands before it.
    pub gap: bool,
}
