//! Grammar of conditions.
//!
//! ```text
//! or         = and (OR and)*
//! and        = not (AND not)*
//! not        = NOT* test
//! test       = term (comparator operand | BETWEEN operand AND operand | IN "(" operand ("," operand)* ")")?
//! term       = "(" or ")" | operand
//! operand    = path | :value | function "(" operand ("," operand)* ")" | "(" operand ")"
//! ```
//!
//! An opening parenthesis starts either a condition or an operand, and only later tokens show which: `(a) = :v` or
//! `(a = :v)`. A [`Term`] therefore is either, and is converted where the grammar requires a condition.

use super::super::cursor::Cursor;
use super::super::written::{self, WrittenCall, WrittenOperand};
use crate::error::Error;
use crate::error::expression::ExpressionKind;
use crate::expression::ast::Comparator;
use crate::expression::lexer::TokenKind;

/// A condition before placeholders are substituted.
#[derive(Debug)]
pub(crate) struct Written<'t> {
    pub(crate) condition: WrittenCondition<'t>,
    pub(crate) redundant_parentheses: bool,
}

#[derive(Debug)]
pub(crate) enum WrittenCondition<'t> {
    And(Vec<Self>),
    Or(Vec<Self>),
    Not(Box<Self>),
    Compare(Comparator, [WrittenOperand<'t>; 2]),
    Between([WrittenOperand<'t>; 3]),
    In(WrittenOperand<'t>, Vec<WrittenOperand<'t>>),
    Call(WrittenCall<'t>),
}

/// A condition or an operand.
struct Term<'t> {
    part: Part<'t>,
    /// True if the whole term is enclosed in parentheses.
    in_parentheses: bool,
}

enum Part<'t> {
    Condition(WrittenCondition<'t>),
    Operand(WrittenOperand<'t>),
}

impl<'t> Term<'t> {
    fn condition(condition: WrittenCondition<'t>) -> Self {
        Self { part: Part::Condition(condition), in_parentheses: false }
    }

    fn operand(operand: WrittenOperand<'t>) -> Self {
        Self { part: Part::Operand(operand), in_parentheses: false }
    }
}

/// Parses the whole text.
pub(crate) fn read(text: &str, kind: ExpressionKind) -> Result<Written<'_>, Error> {
    let mut reader = Reader { cursor: Cursor::new(text, kind)?, open: Vec::new() };
    let condition = reader.read()?;
    reader.cursor.end()?;
    Ok(Written { condition, redundant_parentheses: reader.cursor.redundant_parentheses })
}

/// Parses a condition without recursion, so that deep nesting cannot overflow the stack. `open` holds the constructs
/// that have begun and are not complete.
struct Reader<'t> {
    cursor: Cursor<'t>,
    open: Vec<Open<'t>>,
}

/// A construct that has begun and is not complete.
enum Open<'t> {
    Parenthesis,
    Not,
    And(Vec<WrittenCondition<'t>>),
    Or(Vec<WrittenCondition<'t>>),
}

impl<'t> Reader<'t> {
    fn read(&mut self) -> Result<WrittenCondition<'t>, Error> {
        loop {
            let mut term = self.start()?;
            loop {
                term = test(&mut self.cursor, term)?;
                term = self.close_negations(term)?;
                match self.join(term)? {
                    None => break,
                    Some(whole) if self.open.is_empty() => return condition(&self.cursor, whole),
                    Some(inner) => term = self.close_parenthesis(inner)?,
                }
            }
        }
    }

    /// Parses NOT and opening parentheses up to the next operand, and the operand.
    fn start(&mut self) -> Result<Term<'t>, Error> {
        loop {
            if self.cursor.take_keyword("NOT") {
                self.cursor.count_operator();
                self.open.push(Open::Not);
            } else if self.cursor.take(TokenKind::Open).is_some() {
                self.open.push(Open::Parenthesis);
            } else {
                return written::operand(&mut self.cursor).map(Term::operand);
            }
        }
    }

    fn close_negations(&mut self, mut term: Term<'t>) -> Result<Term<'t>, Error> {
        while let Some(Open::Not) = self.open.last() {
            self.open.pop();
            let negated = condition(&self.cursor, term)?;
            term = Term::condition(WrittenCondition::Not(Box::new(negated)));
        }
        Ok(term)
    }

    /// Adds the term to the enclosing AND or OR. Returns `None` if another part follows,
    /// otherwise the completed term.
    fn join(&mut self, mut term: Term<'t>) -> Result<Option<Term<'t>>, Error> {
        if let Some(Open::And(parts)) = self.open.last_mut() {
            parts.push(condition(&self.cursor, term)?);
            if self.cursor.take_keyword("AND") {
                self.cursor.count_operator();
                return Ok(None);
            }
            let Some(Open::And(parts)) = self.open.pop() else { return Err(self.cursor.syntax_error()) };
            term = Term::condition(WrittenCondition::And(parts));
        } else if self.cursor.peek_keyword("AND") {
            let first = condition(&self.cursor, term)?;
            self.cursor.advance();
            self.cursor.count_operator();
            self.open.push(Open::And(vec![first]));
            return Ok(None);
        }
        self.join_alternatives(term)
    }

    fn join_alternatives(&mut self, mut term: Term<'t>) -> Result<Option<Term<'t>>, Error> {
        if let Some(Open::Or(parts)) = self.open.last_mut() {
            parts.push(condition(&self.cursor, term)?);
            if self.cursor.take_keyword("OR") {
                self.cursor.count_operator();
                return Ok(None);
            }
            let Some(Open::Or(parts)) = self.open.pop() else { return Err(self.cursor.syntax_error()) };
            term = Term::condition(WrittenCondition::Or(parts));
        } else if self.cursor.peek_keyword("OR") {
            let first = condition(&self.cursor, term)?;
            self.cursor.advance();
            self.cursor.count_operator();
            self.open.push(Open::Or(vec![first]));
            return Ok(None);
        }
        Ok(Some(term))
    }

    /// Consumes the parenthesis that closes the completed term.
    fn close_parenthesis(&mut self, mut inner: Term<'t>) -> Result<Term<'t>, Error> {
        self.cursor.expect(TokenKind::Close)?;
        self.open.pop();
        self.cursor.redundant_parentheses |= inner.in_parentheses;
        inner.in_parentheses = true;
        if let Part::Operand(WrittenOperand::Path(path)) = &mut inner.part {
            let steps = path.elements.len();
            written::path_steps_after_parenthesis(&mut self.cursor, path)?;
            inner.in_parentheses = steps == path.elements.len();
        }
        Ok(inner)
    }
}

/// Parses the comparison that starts with the term, if there is one.
fn test<'t>(cursor: &mut Cursor<'t>, first: Term<'t>) -> Result<Term<'t>, Error> {
    let comparator = match cursor.peek_kind() {
        Some(TokenKind::Comparator(comparator)) => Some(comparator),
        Some(TokenKind::Keyword) if cursor.peek_keyword("BETWEEN") || cursor.peek_keyword("IN") => None,
        _ => return Ok(first),
    };
    let Part::Operand(left) = first.part else { return Err(cursor.syntax_error()) };
    cursor.count_operator();
    let test = if let Some(comparator) = comparator {
        cursor.advance();
        WrittenCondition::Compare(comparator, [left, written::operand_in_parentheses(cursor)?])
    } else if cursor.take_keyword("BETWEEN") {
        between(cursor, left)?
    } else {
        cursor.expect_keyword("IN")?;
        is_in(cursor, left)?
    };
    Ok(Term::condition(test))
}

fn between<'t>(cursor: &mut Cursor<'t>, operand: WrittenOperand<'t>) -> Result<WrittenCondition<'t>, Error> {
    let low = written::operand_in_parentheses(cursor)?;
    cursor.expect_keyword("AND")?;
    let high = written::operand_in_parentheses(cursor)?;
    Ok(WrittenCondition::Between([operand, low, high]))
}

fn is_in<'t>(cursor: &mut Cursor<'t>, operand: WrittenOperand<'t>) -> Result<WrittenCondition<'t>, Error> {
    cursor.expect(TokenKind::Open)?;
    let candidates = written::operand_list(cursor)?;
    cursor.expect(TokenKind::Close)?;
    Ok(WrittenCondition::In(operand, candidates))
}

/// Converts a term to a condition. A function alone is a condition; a path or value alone is a syntax error at the
/// next token.
fn condition<'t>(cursor: &Cursor<'t>, term: Term<'t>) -> Result<WrittenCondition<'t>, Error> {
    match term.part {
        Part::Condition(condition) => Ok(condition),
        Part::Operand(WrittenOperand::Call(call)) => Ok(WrittenCondition::Call(call)),
        Part::Operand(_) => Err(cursor.syntax_error()),
    }
}
