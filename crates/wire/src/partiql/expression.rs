//! Parses expressions: operators by precedence, terms by their first token.

use keyform_core::Error;
use keyform_core::error::partiql::malformed;
use keyform_core::expression::Comparator;
use keyform_core::limits::EXPRESSION_OPERATORS_MAX;

use super::clause;
use super::cursor::Cursor;
use super::keyword::{is_function_keyword, is_operator_keyword};
use super::syntax::{Expr, ExprKind, Infix, TestedType};
use super::token::{Token, TokenKind, TokenPosition};
use super::{path, type_name};

const OR: u8 = 10;
const AND: u8 = 20;
const NOT: u8 = 30;
const EQUALITY: u8 = 40;
const COMPARISON: u8 = 50;
const ADDITION: u8 = 60;
const MULTIPLICATION: u8 = 70;

/// Parses a whole expression.
pub(super) fn expression(cursor: &mut Cursor) -> Result<Expr, Error> {
    above(cursor, 0)
}

/// Parses an expression whose operators bind tighter than `precedence`.
fn above(cursor: &mut Cursor, precedence: u8) -> Result<Expr, Error> {
    let mut left = operand(cursor)?;
    while let Some(operator) = peek_operator(cursor).filter(|operator| operator.precedence() > precedence) {
        cursor.next();
        cursor.operators += 1;
        let left_or_less = shallow(cursor, left);
        left = right_side(cursor, left_or_less, operator)?;
    }
    Ok(left)
}

/// Drops the left operand once the statement has too many operators. The statement is rejected for their number
/// anyway, and the tree stays shallow.
fn shallow(cursor: &Cursor, left: Expr) -> Expr {
    if cursor.operators <= EXPRESSION_OPERATORS_MAX { left } else { Expr { kind: ExprKind::Null, place: left.place } }
}

#[derive(Clone, Copy)]
enum Operator {
    Or,
    And,
    Is,
    In,
    Between,
    /// NOT before IN, BETWEEN or LIKE.
    Negated,
    Infix(Infix, u8),
}

impl Operator {
    fn precedence(self) -> u8 {
        match self {
            Self::Or => OR,
            Self::And => AND,
            Self::Is | Self::In | Self::Negated => EQUALITY,
            Self::Between => COMPARISON,
            Self::Infix(_, precedence) => precedence,
        }
    }
}

fn peek_operator(cursor: &mut Cursor) -> Option<Operator> {
    match &cursor.peek()?.kind {
        TokenKind::Symbol(symbol) => symbol_operator(symbol),
        TokenKind::Keyword(word) => keyword_operator(&word.to_ascii_lowercase()),
        _ => None,
    }
}

fn symbol_operator(symbol: &str) -> Option<Operator> {
    let (infix, precedence) = match symbol {
        "=" => (Infix::Compare(Comparator::Equal), EQUALITY),
        "<>" | "!=" => (Infix::Compare(Comparator::NotEqual), EQUALITY),
        "<" => (Infix::Compare(Comparator::Less), COMPARISON),
        "<=" => (Infix::Compare(Comparator::LessOrEqual), COMPARISON),
        ">" => (Infix::Compare(Comparator::Greater), COMPARISON),
        ">=" => (Infix::Compare(Comparator::GreaterOrEqual), COMPARISON),
        "+" => (Infix::Plus, ADDITION),
        "-" => (Infix::Minus, ADDITION),
        "||" => (Infix::Other("||"), ADDITION),
        "*" => (Infix::Other("*"), MULTIPLICATION),
        "/" => (Infix::Other("/"), MULTIPLICATION),
        "%" => (Infix::Other("%"), MULTIPLICATION),
        _ => return None,
    };
    Some(Operator::Infix(infix, precedence))
}

fn keyword_operator(word: &str) -> Option<Operator> {
    Some(match word {
        "or" => Operator::Or,
        "and" => Operator::And,
        "is" => Operator::Is,
        "in" => Operator::In,
        "between" => Operator::Between,
        "not" => Operator::Negated,
        "like" => Operator::Infix(Infix::Other("LIKE"), COMPARISON),
        _ => return None,
    })
}

fn right_side(cursor: &mut Cursor, left: Expr, operator: Operator) -> Result<Expr, Error> {
    match operator {
        Operator::Or => chain(cursor, left, OR),
        Operator::And => chain(cursor, left, AND),
        Operator::Is => is_type(cursor, left),
        Operator::In => in_list(cursor, left),
        Operator::Between => between(cursor, left),
        Operator::Negated => negated(cursor, left),
        Operator::Infix(infix, precedence) => {
            let place = left.place;
            let right = right_operand(cursor, precedence)?;
            Ok(Expr { kind: ExprKind::Infix(infix, Box::new(left), Box::new(right)), place })
        }
    }
}

fn right_operand(cursor: &mut Cursor, precedence: u8) -> Result<Expr, Error> {
    if cursor.at_end() {
        return Err(malformed("Missing right-hand side expression of infix operator"));
    }
    above(cursor, precedence)
}

/// Parses the right side of AND or OR. A run of the same operator becomes one flat list.
fn chain(cursor: &mut Cursor, left: Expr, precedence: u8) -> Result<Expr, Error> {
    let place = left.place;
    let right = right_operand(cursor, precedence)?;
    let kind = match (left.kind, precedence) {
        (ExprKind::And(mut sides), AND) => {
            sides.push(right);
            ExprKind::And(sides)
        }
        (ExprKind::Or(mut sides), OR) => {
            sides.push(right);
            ExprKind::Or(sides)
        }
        (kind, AND) => ExprKind::And(vec![Expr { kind, place }, right]),
        (kind, _) => ExprKind::Or(vec![Expr { kind, place }, right]),
    };
    Ok(Expr { kind, place })
}

fn is_type(cursor: &mut Cursor, left: Expr) -> Result<Expr, Error> {
    let negated = cursor.eat_keyword("not");
    cursor.operators += usize::from(negated);
    let tested: TestedType = type_name::tested_type(cursor)?;
    let place = left.place;
    let test = Expr { kind: ExprKind::Is(Box::new(left), tested), place };
    Ok(if negated { not(test) } else { test })
}

fn in_list(cursor: &mut Cursor, left: Expr) -> Result<Expr, Error> {
    let place = left.place;
    let list = match cursor.peek() {
        Some(token) if token.kind == TokenKind::Symbol("(") => {
            let place = token.place;
            cursor.next();
            Expr { kind: ExprKind::List(cursor.elements(")", "Expected RIGHT_PAREN", expression)?), place }
        }
        _ => right_operand(cursor, EQUALITY)?,
    };
    Ok(Expr { kind: ExprKind::In(Box::new(left), Box::new(list)), place })
}

fn between(cursor: &mut Cursor, left: Expr) -> Result<Expr, Error> {
    let place = left.place;
    let low = right_operand(cursor, COMPARISON)?;
    cursor.expect_keyword("and", "Expected AND keyword")?;
    if cursor.at_end() {
        return Err(malformed("Expected expression after AND"));
    }
    let high = above(cursor, COMPARISON)?;
    Ok(Expr { kind: ExprKind::Between(Box::new(left), Box::new(low), Box::new(high)), place })
}

/// Parses the rest of an expression after `x NOT`.
fn negated(cursor: &mut Cursor, left: Expr) -> Result<Expr, Error> {
    match peek_operator(cursor) {
        Some(operator @ (Operator::In | Operator::Between | Operator::Infix(Infix::Other("LIKE"), _))) => {
            cursor.next();
            cursor.operators += 1;
            right_side(cursor, left, operator).map(not)
        }
        _ => Err(malformed("Unexpected token after expression")),
    }
}

fn not(inner: Expr) -> Expr {
    let place = inner.place;
    match inner.kind {
        ExprKind::Not(inner) => *inner,
        kind => Expr { kind: ExprKind::Not(Box::new(Expr { kind, place })), place },
    }
}

/// Parses a term with its prefix: any number of NOT, or a sign.
fn operand(cursor: &mut Cursor) -> Result<Expr, Error> {
    if cursor.at_keyword("not") {
        return negation(cursor);
    }
    if cursor.at_symbol("-") || cursor.at_symbol("+") {
        return signed(cursor);
    }
    term(cursor)
}

/// Parses a run of NOT. Two of them cancel out, so that a long run adds no depth.
fn negation(cursor: &mut Cursor) -> Result<Expr, Error> {
    let mut odd = false;
    while cursor.eat_keyword("not") {
        odd = !odd;
        cursor.operators += 1;
    }
    let inner = cursor.nested(|cursor| above(cursor, NOT))?;
    Ok(if odd { not(inner) } else { inner })
}

fn signed(cursor: &mut Cursor) -> Result<Expr, Error> {
    let negative = cursor.at_symbol("-");
    cursor.next();
    let inner = cursor.nested(operand)?;
    let sign = if negative { "-" } else { "+" };
    let kind = match inner.kind {
        ExprKind::Number(number) if !negative => ExprKind::Number(number),
        ExprKind::Number(number) => {
            ExprKind::Number(number.strip_prefix('-').map_or_else(|| format!("-{number}"), str::to_owned))
        }
        _ => ExprKind::Sign(sign),
    };
    Ok(Expr { kind, place: inner.place })
}

fn term(cursor: &mut Cursor) -> Result<Expr, Error> {
    let Some(Token { kind, place }) = cursor.next() else { return Err(malformed("Unexpected term")) };
    match kind {
        TokenKind::Name(name) if cursor.at_symbol("(") => call(cursor, name, place),
        TokenKind::Name(name) | TokenKind::Quoted(name) => path::rest(cursor, name, place).map(path_expr),
        TokenKind::Keyword(word) => keyword_term(cursor, word, place),
        TokenKind::Text(text) => Ok(Expr { kind: ExprKind::Text(text), place }),
        TokenKind::Number(number) => Ok(Expr { kind: ExprKind::Number(number), place }),
        TokenKind::Ion(text) => Ok(Expr { kind: ExprKind::Ion(text), place }),
        TokenKind::Parameter(number) => Ok(Expr { kind: ExprKind::Parameter(number), place }),
        TokenKind::Symbol(symbol) => symbol_term(cursor, symbol, place),
    }
}

fn path_expr(path: super::syntax::WrittenPath) -> Expr {
    let place = path.place;
    Expr { kind: ExprKind::Path(path), place }
}

fn call(cursor: &mut Cursor, name: String, place: TokenPosition) -> Result<Expr, Error> {
    cursor.next();
    cursor.operators += 1;
    let operands = cursor.elements(")", "Expected RIGHT_PAREN", call_operand)?;
    Ok(Expr { kind: ExprKind::Call(name, operands), place })
}

fn call_operand(cursor: &mut Cursor) -> Result<Expr, Error> {
    match cursor.peek().map(|token| (token.kind == TokenKind::Symbol("*"), token.place)) {
        Some((true, place)) => {
            cursor.next();
            Ok(Expr { kind: ExprKind::Star, place })
        }
        _ if cursor.at_keyword("select") => subselect(cursor),
        _ => expression(cursor),
    }
}

fn subselect(cursor: &mut Cursor) -> Result<Expr, Error> {
    let select = clause::select(cursor)?;
    let place = select.place;
    Ok(Expr { kind: ExprKind::Select(Box::new(select)), place })
}

fn keyword_term(cursor: &mut Cursor, word: String, place: TokenPosition) -> Result<Expr, Error> {
    let kind = match word.to_ascii_lowercase().as_str() {
        "true" => ExprKind::Bool(true),
        "false" => ExprKind::Bool(false),
        "null" => ExprKind::Null,
        "missing" => ExprKind::Missing,
        "from" => return Err(malformed("Expected data manipulation")),
        _ if is_function_keyword(&word) && cursor.at_symbol("(") => return call(cursor, word, place),
        _ if is_operator_keyword(&word) => return Err(malformed("Unexpected operator")),
        _ => return Err(malformed("Unexpected keyword")),
    };
    Ok(Expr { kind, place })
}

fn symbol_term(cursor: &mut Cursor, symbol: &str, place: TokenPosition) -> Result<Expr, Error> {
    let kind = match symbol {
        "(" => return cursor.nested(parenthesised),
        "[" => ExprKind::List(cursor.elements("]", "Expected RIGHT_BRACKET", expression)?),
        "<<" => ExprKind::Bag(cursor.elements(">>", "Expected RIGHT_DOUBLE_ANGLE_BRACKET", expression)?),
        "{" => ExprKind::Struct(cursor.elements("}", "Expected RIGHT_CURLY", entry)?),
        "=" | "<>" | "!=" | "<" | "<=" | ">" | ">=" | "/" | "%" | "||" => {
            return Err(malformed("Unexpected operator"));
        }
        _ => return Err(malformed("Unexpected term")),
    };
    Ok(Expr { kind, place })
}

fn parenthesised(cursor: &mut Cursor) -> Result<Expr, Error> {
    let inner = if cursor.at_keyword("select") { subselect(cursor)? } else { expression(cursor)? };
    cursor.expect_symbol(")", "Expected RIGHT_PAREN")?;
    Ok(inner)
}

fn entry(cursor: &mut Cursor) -> Result<(Expr, Expr), Error> {
    let name = expression(cursor)?;
    cursor.expect_symbol(":", "Expected COLON")?;
    Ok((name, expression(cursor)?))
}
