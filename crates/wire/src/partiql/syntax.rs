//! Syntax trees of statements before parameters are bound. Their depth is bounded by [`DEPTH_MAX`] brackets and
//! [`keyform_core::limits::EXPRESSION_OPERATORS_MAX`] operators.

use keyform_core::expression::Comparator;
use keyform_core::value::AttributeType;

use super::token::TokenPosition;

/// Nesting limit of brackets of any kind; it bounds the stack.
pub(super) const DEPTH_MAX: usize = 100;

#[derive(Clone, Debug)]
pub(super) enum Written {
    Select(Select),
    Insert { table: Source, value: Expr },
    Update { table: Source, changes: Vec<Change>, condition: Option<Expr>, returning: Option<Returning> },
    Delete { table: Source, condition: Option<Expr>, returning: Option<Returning> },
    Expression(Expr),
}

#[derive(Clone, Debug)]
pub(super) struct Select {
    /// `None` for `*`.
    pub(super) columns: Option<Vec<Expr>>,
    pub(super) source: Source,
    pub(super) condition: Option<Expr>,
    pub(super) order: Vec<Order>,
    pub(super) place: TokenPosition,
}

/// The FROM clause.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) expr: Expr,
    pub(super) aliased: bool,
    /// True if FROM names more than one source.
    pub(super) joined: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) expr: Expr,
    pub(super) descending: bool,
}

/// One change of an UPDATE.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Set(WrittenPath, Expr),
    Remove(WrittenPath),
}

/// The RETURNING clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Returning {
    pub(super) modified: bool,
    pub(super) new: bool,
}

/// A path: a name and steps into it.
#[derive(Clone, Debug)]
pub(super) struct WrittenPath {
    pub(super) root: String,
    pub(super) steps: Vec<PathStep>,
    pub(super) place: TokenPosition,
}

#[derive(Clone, Debug)]
pub(super) enum PathStep {
    Name(String),
    /// An expression in brackets.
    Bracket(Expr),
    /// `.*` or `[*]`.
    Every(TokenPosition),
}

/// An expression with its position.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) place: TokenPosition,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Path(WrittenPath),
    Text(String),
    /// Number literal with its sign.
    Number(String),
    Bool(bool),
    Null,
    Missing,
    Ion(String),
    Parameter(usize),
    List(Vec<Expr>),
    Bag(Vec<Expr>),
    Struct(Vec<(Expr, Expr)>),
    /// Function name as written, and its operands.
    Call(String, Vec<Expr>),
    /// `*` as the operand of a function.
    Star,
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    /// A sign before something that is not a number literal.
    Sign(&'static str),
    Infix(Infix, Box<Expr>, Box<Expr>),
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Box<Expr>),
    Is(Box<Expr>, TestedType),
    Select(Box<Select>),
}

/// Type tested by IS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestedType {
    Missing,
    Of(AttributeType),
    /// A PartiQL type that DynamoDB does not test, by its class name.
    Other(&'static str),
}

/// Binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Compare(Comparator),
    Plus,
    Minus,
    /// A PartiQL operator that DynamoDB does not support.
    Other(&'static str),
}
