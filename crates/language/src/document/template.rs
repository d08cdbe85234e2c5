//! Template syntax: text with `{field}` or `{field:format}`, where `{{` and `}}` stand for literal braces.
//!
//! This module checks syntax only; [`schema`](crate::schema) resolves fields and formats.

use crate::diagnostic::{Code, Diagnostic};
use crate::span::Span;

use super::ast::{Name, Text};

/// Unbalanced braces.
const BAD_BRACES: Code = Code("S11");
/// Malformed format after the colon.
const BAD_FORMAT: Code = Code("S12");

/// Template that is too long for a key.
const TOO_LONG: Code = Code("S16");

/// Bytes of a template. A partition key has at most 2,048 bytes; the names of fields may be longer than their values.
const TEMPLATE_BYTES_MAX: usize = 4096;
/// Fields of a template.
const TEMPLATE_FIELDS_MAX: usize = 64;

/// A piece of a template.
#[derive(Clone, Debug)]
pub enum TemplatePiece {
    /// Literal text with `{{` and `}}` unescaped.
    Text {
        /// Unescaped text.
        text: String,
        /// Source range, escapes included.
        span: Span,
    },
    /// `{field}`, `{field:format}`
    Field(FieldPiece),
}

/// `{field}`, `{field:format}`
#[derive(Clone, Debug)]
pub struct FieldPiece {
    /// Field name before the colon.
    pub field: Name,
    /// Format after the colon, if any.
    pub format: Option<FormatPiece>,
    /// Source range, braces included.
    pub span: Span,
}

/// `format`, `format(argument)`
#[derive(Clone, Debug)]
pub struct FormatPiece {
    /// Name of the format, such as `ms` or `pad`.
    pub name: Name,
    /// Number in parentheses, such as the width of `pad(8)`.
    pub argument: Option<u64>,
    /// Source range of name and argument.
    pub span: Span,
}

/// Splits a template into its pieces. Malformed pieces are reported and omitted.
///
/// ```
/// use keyform_language::document::ast::Text;
/// use keyform_language::document::template::{TemplatePiece, parse_template};
///
/// let (pieces, mistakes) = parse_template(&Text::from("MSG#{createdAt:ms}".to_owned()));
/// assert!(mistakes.is_empty());
/// assert!(matches!(&pieces[1], TemplatePiece::Field(piece) if piece.field.text == "createdAt"));
/// ```
#[must_use]
pub fn parse_template(text: &Text) -> (Vec<TemplatePiece>, Vec<Diagnostic>) {
    let escapes = text.escapes();
    let mut reader = Reader { text, escapes, at: 0, pieces: Vec::new(), literal: None, mistakes: Vec::new() };
    reader.run();
    reader.limit();
    if text.is_unclosed() {
        reader.mistakes.clear();
    }
    (reader.pieces, reader.mistakes)
}

/// State of the template parser.
struct Reader<'a> {
    text: &'a Text,
    /// Offsets of the bytes that are written with an escape.
    escapes: Vec<usize>,
    at: usize,
    pieces: Vec<TemplatePiece>,
    /// Literal text since the last field and the offset where it begins.
    literal: Option<(usize, String)>,
    mistakes: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn run(&mut self) {
        while let Some(next) = self.rest().chars().next() {
            if self.rest().starts_with("{{") || self.rest().starts_with("}}") {
                self.push(next, 2);
            } else if next == '{' {
                self.end_literal();
                self.field();
            } else if next == '}' {
                self.stray();
            } else {
                self.push(next, next.len_utf8());
            }
        }
        self.end_literal();
    }

    fn rest(&self) -> &str {
        &self.text.text[self.at..]
    }

    /// Replaces a template that no key can have by one error: later phases compare templates character by character.
    fn limit(&mut self) {
        let is_field = |piece: &&TemplatePiece| matches!(piece, TemplatePiece::Field(_));
        let fields = self.pieces.iter().filter(is_field).count();
        if self.text.text.len() <= TEMPLATE_BYTES_MAX && fields <= TEMPLATE_FIELDS_MAX {
            return;
        }
        let message = format!(
            "this template has {} bytes and {fields} fields; the limits are {TEMPLATE_BYTES_MAX} and {TEMPLATE_FIELDS_MAX}",
            self.text.text.len()
        );
        self.pieces.clear();
        self.mistakes = vec![
            Diagnostic::error(TOO_LONG, self.place(0, self.text.text.len()), message)
                .help("shorten it: a key of DynamoDB has at most 2048 bytes"),
        ];
    }

    fn place(&self, start: usize, end: usize) -> Span {
        let begin = self.text.span.start + 1;
        let written = |offset: usize| begin + offset + self.escapes.partition_point(|escape| *escape < offset);
        Span::new(written(start), written(end))
    }

    fn push(&mut self, next: char, length: usize) {
        self.literal.get_or_insert_with(|| (self.at, String::new())).1.push(next);
        self.at += length;
    }

    fn end_literal(&mut self) {
        if let Some((start, text)) = self.literal.take() {
            self.pieces.push(TemplatePiece::Text { text, span: self.place(start, self.at) });
        }
    }

    fn stray(&mut self) {
        let span = self.place(self.at, self.at + 1);
        self.mistakes.push(
            Diagnostic::error(BAD_BRACES, span, "unmatched `}`")
                .help("write `}}` for a brace, or `{` before the name of the field"),
        );
        self.at += 1;
    }

    fn field(&mut self) {
        let start = self.at;
        let length = self.rest()[1..].find(['{', '}']).map(|length| length + 1);
        let Some(length) = length.filter(|length| self.rest().as_bytes()[*length] == b'}') else {
            return self.unclosed(start, length);
        };
        self.at += length + 1;
        let content = &self.text.text[start + 1..start + length];
        let (name, format) = content.split_once(':').map_or((content, None), |(name, format)| (name, Some(format)));
        let Some(field) = self.name(name, start + 1) else {
            return self.bad_field(start);
        };
        let format = match format {
            None => None,
            Some(format) => match self.format(format, start + 1 + name.len() + 1) {
                Some(format) => Some(format),
                None => return,
            },
        };
        let span = self.place(start, self.at);
        self.pieces.push(TemplatePiece::Field(FieldPiece { field, format, span }));
    }

    /// Returns the name at offset `start` without surrounding spaces; `None` if it is empty or contains white space.
    fn name(&self, written: &str, start: usize) -> Option<Name> {
        let text = written.trim();
        if text.is_empty() || text.contains(char::is_whitespace) {
            return None;
        }
        let start = start + (written.len() - written.trim_start().len());
        Some(Name { text: text.to_owned(), span: self.place(start, start + text.len()) })
    }

    fn unclosed(&mut self, start: usize, next: Option<usize>) {
        let end = next.map_or(self.text.text.len(), |next| start + next);
        let span = self.place(start, end);
        self.mistakes.push(
            Diagnostic::error(BAD_BRACES, span, "unclosed `{`")
                .help("write `}` after the name of the field, or `{{` for a brace"),
        );
        self.at = end;
    }

    fn bad_field(&mut self, start: usize) {
        let span = self.place(start, self.at);
        self.mistakes.push(
            Diagnostic::error(BAD_BRACES, span, "the braces of a template contain one field")
                .help("write `{field}` or `{field:format}`, or `{{` and `}}` for braces"),
        );
    }

    fn format(&mut self, written: &str, start: usize) -> Option<FormatPiece> {
        let (name, argument) = match written.split_once('(') {
            None => (written, None),
            Some((name, rest)) => (name, Some(rest.trim_end().strip_suffix(')').map(str::trim))),
        };
        let argument = match argument {
            None => Ok(None),
            Some(number) => number.and_then(|number| number.parse::<u64>().ok()).map(Some).ok_or(()),
        };
        let span = self.place(start, start + written.len());
        let named =
            self.name(name, start).filter(|name| name.text.chars().all(|next| next.is_alphanumeric() || next == '_'));
        match (named, argument) {
            (Some(name), Ok(argument)) => Some(FormatPiece { name, argument, span }),
            _ => {
                let message = format!("`{written}` is not a valid format");
                self.mistakes.push(
                    Diagnostic::error(BAD_FORMAT, span, message)
                        .help("write a format such as `{createdAt:ms}` or `{rank:pad(8)}`"),
                );
                None
            }
        }
    }
}
