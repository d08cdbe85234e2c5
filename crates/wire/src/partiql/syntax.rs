//! Statements as they are written, before anything is known of their values. Trees are never deeper than
//! [`DEPTH_MAX`] brackets and [`keyform_core::limits::EXPRESSION_OPERATORS_MAX`] operators.

use keyform_core::expression::Comparator;
use keyform_core::value::AttributeType;

use super::token::Place;

/// How deep brackets of any kind may nest.
pub(super) const DEPTH_MAX: usize = 100;

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Written {
    Select(Select),
    Insert { table: Source, value: Expr },
    Update { table: Source, changes: Vec<Change>, condition: Option<Expr>, returning: Option<Returning> },
    Delete { table: Source, condition: Option<Expr>, returning: Option<Returning> },
    Expression(Expr),
}

/// A SELECT.
#[derive(Clone, Debug)]
pub(super) struct Select {
    /// `None` for `*`.
    pub(super) columns: Option<Vec<Expr>>,
    pub(super) source: Source,
    pub(super) condition: Option<Expr>,
    pub(super) order: Vec<Order>,
    pub(super) place: Place,
}

/// What FROM names.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) expr: Expr,
    pub(super) aliased: bool,
    /// Whether there is more than one.
    pub(super) joined: bool,
}

/// One term of an ORDER BY.
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

/// What a write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Returning {
    pub(super) modified: bool,
    pub(super) new: bool,
}

/// A path: a name and steps into it.
#[derive(Clone, Debug)]
pub(super) struct WrittenPath {
    pub(super) root: String,
    pub(super) steps: Vec<Step>,
    pub(super) place: Place,
}

/// A step of a path.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Name(String),
    /// What stands in brackets.
    Bracket(Expr),
    /// `.*` or `[*]`.
    Every(Place),
}

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) kind: ExprKind,
    pub(super) place: Place,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(super) enum ExprKind {
    Path(WrittenPath),
    Text(String),
    /// With its sign.
    Number(String),
    Bool(bool),
    Null,
    Missing,
    Ion(String),
    Parameter(usize),
    List(Vec<Expr>),
    Bag(Vec<Expr>),
    Struct(Vec<(Expr, Expr)>),
    /// A function's name as it was written, and its operands.
    Call(String, Vec<Expr>),
    /// `*` as the operand of a function.
    Star,
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    /// A sign in front of something that is no number.
    Sign(&'static str),
    Infix(Infix, Box<Expr>, Box<Expr>),
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    In(Box<Expr>, Box<Expr>),
    Is(Box<Expr>, TestedType),
    Select(Box<Select>),
}

/// What IS tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestedType {
    Missing,
    Of(AttributeType),
    /// A type that the language has and the service does not test, by its class.
    Other(&'static str),
}

/// An operator between two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Compare(Comparator),
    Plus,
    Minus,
    /// One that the language has and the service has not.
    Other(&'static str),
}
