//! Parses conditions and values.
//!
//! Precedence from lowest to highest: `or`, `and`, `not`, one comparison, `+` and `-`, then members, elements and
//! calls.

use crate::document::ast::{Argument, BinaryOp, Expr, ExprKind, Name};
use crate::document::token::Kind;

use super::{DEPTH_MAX, Parsed, Parser};

/// Words that are never a name within an expression.
pub(in crate::document) const RESERVED: [&str; 17] = [
    "and", "or", "not", "between", "in", "begins", "contains", "is", "none", "true", "false", "absent", "exists", "if",
    "else", "some", "null",
];

impl Parser<'_> {
    /// Parses a condition or a value.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(Self::any_of)
    }

    fn any_of(&mut self) -> Parsed<Expr> {
        self.left_chain(Self::all_of, |parser| parser.eat_operator("or").then_some(BinaryOp::Or))
    }

    fn all_of(&mut self) -> Parsed<Expr> {
        self.left_chain(Self::negated, |parser| parser.eat_operator("and").then_some(BinaryOp::And))
    }

    /// Parses the left-associative chain `a op b op c`.
    fn left_chain(
        &mut self,
        operand: fn(&mut Self) -> Parsed<Expr>,
        operator: fn(&mut Self) -> Option<BinaryOp>,
    ) -> Parsed<Expr> {
        // The left operand's span excludes a parenthesis around it.
        let start = self.peek().span.start;
        let mut left = operand(self)?;
        let mut length = self.depth;
        while let Some(op) = operator(self) {
            length += 1;
            if length > DEPTH_MAX {
                return Err(self.too_deep());
            }
            let right = operand(self)?;
            left = self.expr(start, ExprKind::Binary(op, left, right));
        }
        Ok(left)
    }

    /// Returns true if this operator comes next, and not an argument of the same name.
    fn at_operator(&self, word: &str) -> bool {
        self.at_word(word) && !self.peek_at(1).is_mark(":")
    }

    fn eat_operator(&mut self, word: &str) -> bool {
        let there = self.at_operator(word);
        if there {
            self.bump();
        }
        there
    }

    fn negated(&mut self) -> Parsed<Expr> {
        let start = self.peek().span.start;
        if !self.eat_word("not") {
            return self.comparison();
        }
        let operand = self.nested(Self::negated)?;
        Ok(self.expr(start, ExprKind::Not(operand)))
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let start = self.peek().span.start;
        let left = self.sum()?;
        if let Some(op) = self.comparison_mark() {
            let right = self.sum()?;
            return Ok(self.expr(start, ExprKind::Binary(op, left, right)));
        }
        let kind = if self.eat_operator("between") {
            let low = self.sum()?;
            self.expect_word("and", "between the two ends of `between`")?;
            ExprKind::Between(left, low, self.sum()?)
        } else if self.eat_operator("in") {
            self.expect_mark("(", "and the values, as in `status in (\"open\", \"paid\")`")?;
            ExprKind::In(left, self.list(")", "after a value", Self::expression)?)
        } else if self.eat_operator("is") {
            self.is_none(left)?
        } else {
            return Ok(left);
        };
        Ok(self.expr(start, kind))
    }

    fn comparison_mark(&mut self) -> Option<BinaryOp> {
        let is_next = |op: &BinaryOp| match op.comparator() {
            Some(_) => self.at_mark(op.symbol()),
            None => self.at_operator(op.symbol()),
        };
        let op = BinaryOp::TESTS.into_iter().find(is_next)?;
        self.bump();
        Some(op)
    }

    fn is_none(&mut self, left: Expr) -> Parsed<ExprKind> {
        let negated = self.at_word("not").then(|| self.peek().span);
        if negated.is_some() {
            return Err(self.expected_with("`none` or `some`", "write `is some` for the opposite of `is none`"));
        }
        Ok(match self.keyword("`none` or `some`", &["none", "some"])? {
            "none" => ExprKind::IsNone(left),
            _ => ExprKind::IsSome(left),
        })
    }

    fn sum(&mut self) -> Parsed<Expr> {
        self.left_chain(Self::postfix, |parser| {
            let op = if parser.at_mark("+") {
                BinaryOp::Plus
            } else if parser.at_mark("-") {
                BinaryOp::Minus
            } else {
                return None;
            };
            parser.bump();
            Some(op)
        })
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let first = self.primary()?;
        self.path_of(first)
    }

    /// Parses members and elements after an expression. The bracket of an element must follow its list without a space.
    fn path_of(&mut self, first: Expr) -> Parsed<Expr> {
        let start = first.span.start;
        let mut of = first;
        let mut length = self.depth;
        loop {
            let kind = if self.eat_mark(".") {
                ExprKind::Member(of, self.name("the name of a field after `.`")?)
            } else if self.at_mark("[") && self.peek().span.start == self.end() {
                self.bump();
                let key = self.expression()?;
                self.expect_mark("]", "after the key of an element")?;
                ExprKind::Element(of, key)
            } else {
                return Ok(of);
            };
            length += 1;
            if length > DEPTH_MAX {
                return Err(self.too_deep());
            }
            of = self.expr(start, kind);
        }
    }

    /// Parses a field or a path into it, such as `address.city` or `reactions[emoji]`.
    pub(super) fn path(&mut self, what: &str) -> Parsed<Expr> {
        let name = self.name(what)?;
        let start = name.span.start;
        let first = self.expr(start, ExprKind::Name(name));
        self.path_of(first)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let start = self.peek().span.start;
        let kind = match self.peek().kind {
            Kind::Text => ExprKind::Text(self.quoted("a text")?.text),
            Kind::Number => self.number()?,
            Kind::Mark("-") if self.peek_at(1).kind == Kind::Number => self.number()?,
            Kind::Mark("[") => {
                self.bump();
                ExprKind::List(self.list("]", "after an element of the list", Self::expression)?)
            }
            Kind::Mark("{") => {
                self.bump();
                ExprKind::Record(self.list("}", "after a field of the record", Self::record_field)?)
            }
            Kind::Mark("(") => return self.parenthesised(),
            Kind::Word if self.reserved() => self.constant()?,
            Kind::Word if self.at_step() => return Err(self.expected("a value or a condition")),
            Kind::Word | Kind::Name => self.name_or_call()?,
            _ => return Err(self.expected("a value or a condition")),
        };
        Ok(self.expr(start, kind))
    }

    fn parenthesised(&mut self) -> Parsed<Expr> {
        self.bump();
        let inner = self.expression()?;
        self.expect_mark(")", "after the expression")?;
        Ok(inner)
    }

    fn record_field(&mut self) -> Parsed<(Name, Expr)> {
        let name = self.name("a field of the record, as in `{ city = \"Bern\" }`")?;
        if !self.eat_mark(":") {
            self.expect_mark("=", "and the value of the field")?;
        }
        Ok((name, self.expression()?))
    }

    fn reserved(&self) -> bool {
        RESERVED.contains(&self.peek().text.as_str())
    }

    fn constant(&mut self) -> Parsed<ExprKind> {
        let kind = match self.peek().text.as_str() {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "none" => ExprKind::None,
            "absent" => ExprKind::Absent,
            "exists" => ExprKind::Exists,
            "null" => return Err(self.expected_with("a value", "write `none` for no value")),
            _ => return Err(self.expected("a value or a condition")),
        };
        self.bump();
        Ok(kind)
    }

    fn name_or_call(&mut self) -> Parsed<ExprKind> {
        let name = self.take_name();
        if self.at_mark("(") && !self.peek().first {
            self.bump();
            return Ok(ExprKind::Call(name, self.arguments()?));
        }
        Ok(ExprKind::Name(name))
    }

    /// Parses the arguments after an opening parenthesis, positional or named.
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Argument>> {
        self.list(")", "after an argument", |parser| {
            let named = parser.peek().is_name() && parser.peek_at(1).is_mark(":");
            let name = if named { Some(parser.take_name()) } else { None };
            if named {
                parser.bump();
            }
            Ok(Argument { name, value: parser.expression()? })
        })
    }

    /// Builds an expression from `start` to the token consumed last.
    fn expr(&self, start: usize, kind: ExprKind) -> Expr {
        Expr { kind: Box::new(kind), span: self.since(start) }
    }
}
