//! Reads a model: recursive descent with recovery.
//!
//! A mistake ends the line it stands in (a field, a clause, a step), and the next line is read as if nothing had happened; where it
//! is clear what the author meant, the parser goes on within the line. So one run reports every independent mistake, and none
//! that only follows from another. A function that returns `Reported` has said what is wrong.
//!
//! 1. `cursor`: the next token, and what must follow.
//! 2. `report`: how a mistake is said, and which of them are not said again.
//! 3. `notes`: comments and documentation find their line.
//! 4. `block`: the lines between braces, and where reading goes on after a mistake.
//! 5. `declaration` and the files for each kind of them: `table`, `entity`, `field`, `pattern`, `read`, [`write`], `change`.
//! 6. `expression` and `number`.

mod block;
mod change;
mod cursor;
pub(crate) mod declaration;
pub(crate) mod entity;
mod expression;
pub(crate) mod field;
mod notes;
mod number;
mod pattern;
mod read;
mod report;
pub(crate) mod table;
pub(crate) mod write;

pub(super) use expression::RESERVED;

use crate::diagnostic::Diagnostic;

use super::ast::Document;
use super::lexer::{self, Lexed};
use super::token::{Comment, Token};
use block::Brace;

/// Proof that a mistake has been reported.
#[derive(Clone, Copy, Debug)]
struct Reported;

/// A part of the tree, or the mistake has been reported.
type Parsed<T> = Result<T, Reported>;

/// How deep types, expressions and steps may be nested.
const DEPTH_MAX: usize = 64;

/// Reads the text of a model. The tree holds all that could be read.
///
/// ```
/// let (document, mistakes) = keyform_language::document::parse("model chat\n\nshape Named { name: strin }\n");
/// assert_eq!(document.declarations.len(), 2);
/// assert_eq!(mistakes[0].message, "`strin` is no type");
/// ```
#[must_use]
pub fn parse(text: &str) -> (Document, Vec<Diagnostic>) {
    let Lexed { tokens, comments, problems } = lexer::lex(text);
    let mut parser = Parser::new(text, tokens, comments);
    let document = parser.document();
    (document, parser.finish(problems))
}

/// The state of the reading.
struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// The number of the next token.
    at: usize,
    comments: Vec<Comment>,
    /// The number of the first comment that no line has taken yet.
    comment_at: usize,
    /// The comment behind the opening brace of the line that is being read.
    header_comment: Option<String>,
    /// The blocks that are open.
    braces: Vec<Brace>,
    /// How many braces are open at the next token.
    brace_depth: usize,
    /// How many parentheses and brackets are open at the next token.
    paren_depth: usize,
    /// How deep types, expressions and steps are nested.
    depth: usize,
    /// The file has more opening braces than closing ones, so indentation decides which is missing.
    unbalanced: bool,
    /// The token at which a missing brace has been reported.
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
