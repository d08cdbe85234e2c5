//! Parses a model: recursive descent with error recovery.
//!
//! An error ends the line it occurs in (a field, a clause, a step), and parsing resumes with the next line. Where the
//! intent is clear, the parser continues within the line. One run therefore reports every independent error and no
//! follow-on errors (ADR 0008). A function that returns `Reported` has already reported its error.
//!
//! 1. `cursor`: lookahead, consuming, and expecting tokens.
//! 2. `report`: reports syntax errors and suppresses follow-on errors.
//! 3. `notes`: attaches comments and documentation to lines.
//! 4. `block`: the lines between braces, and recovery after an error.
//! 5. `declaration` and one file per kind: `table`, `entity`, `field`, `pattern`, `read`, [`write`], `change`.
//! 6. `expression` and `number`.

mod block;
mod change;
mod cursor;
pub(super) mod declaration;
pub(super) mod entity;
mod expression;
pub(super) mod field;
mod notes;
mod number;
mod pattern;
mod read;
mod report;
pub(super) mod table;
pub(super) mod write;

pub(super) use expression::RESERVED;

use crate::diagnostic::Diagnostic;

use super::ast::Document;
use super::lexer::{self, Lexed};
use super::token::{Comment, Token};
use block::Brace;

/// Proof that an error has been reported.
#[derive(Clone, Copy, Debug)]
struct Reported;

/// A part of the tree, or an error that has been reported.
type Parsed<T> = Result<T, Reported>;

/// Maximum nesting of types, expressions and steps; bounds the recursion of the parser.
const DEPTH_MAX: usize = 64;

/// Parses the text of a model. The tree contains everything that could be parsed.
///
/// ```
/// let (document, mistakes) = keyform_language::document::parse("model chat\n\nshape Named { name: strin }\n");
/// assert_eq!(document.declarations.len(), 2);
/// assert_eq!(mistakes[0].message, "unknown type `strin`");
/// ```
#[must_use]
pub fn parse(text: &str) -> (Document, Vec<Diagnostic>) {
    let Lexed { tokens, comments, problems } = lexer::lex(text);
    let mut parser = Parser::new(text, tokens, comments);
    let document = parser.document();
    (document, parser.finish(problems))
}

/// State of the parser.
struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// Index of the next token.
    at: usize,
    comments: Vec<Comment>,
    /// Index of the first comment that is not attached to a line yet.
    comment_at: usize,
    /// Comment after the opening brace of the current line.
    header_comment: Option<String>,
    /// Open blocks, outermost first.
    braces: Vec<Brace>,
    /// Open braces at the next token.
    brace_depth: usize,
    /// Open parentheses and brackets at the next token.
    paren_depth: usize,
    /// Current nesting of types, expressions and steps.
    depth: usize,
    /// True if the file has more opening braces than closing ones, so indentation decides which one is missing.
    unbalanced: bool,
    /// Token at which a missing brace was reported last.
    unclosed_at: Option<usize>,
    mistakes: Vec<report::Mistake>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, tokens: Vec<Token>, comments: Vec<Comment>) -> Self {
        let count = |mark| tokens.iter().filter(|token| token.is_mark(mark)).count();
        let unbalanced = count("{") > count("}");
        Self {
            text,
            tokens,
            at: 0,
            comments,
            comment_at: 0,
            header_comment: None,
            braces: Vec::new(),
            brace_depth: 0,
            paren_depth: 0,
            depth: 0,
            unbalanced,
            unclosed_at: None,
            mistakes: Vec::new(),
        }
    }
}
