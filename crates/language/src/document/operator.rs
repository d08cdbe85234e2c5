//! Binary operators. The parser, the formatter and the binder all use this definition.

use keyform_core::expression::Comparator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BinaryOp {
    /// `or`
    Or,
    /// `and`
    And,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `begins`
    Begins,
    /// `contains`
    Contains,
    /// `+`
    Plus,
    /// `-`
    Minus,
}

impl BinaryOp {
    /// Operators that test two values.
    pub const TESTS: [Self; 8] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::Begins,
        Self::Contains,
    ];

    /// Returns the operator's notation in a model.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Or => "or",
            Self::And => "and",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Begins => "begins",
            Self::Contains => "contains",
            Self::Plus => "+",
            Self::Minus => "-",
        }
    }

    /// Returns true if the operator tests two values.
    #[must_use]
    pub fn is_test(self) -> bool {
        Self::TESTS.contains(&self)
    }

    /// Returns DynamoDB's comparison operator; `None` for operators that are a function, a sum or a combination.
    #[must_use]
    pub fn comparator(self) -> Option<Comparator> {
        match self {
            Self::Equal => Some(Comparator::Equal),
            Self::NotEqual => Some(Comparator::NotEqual),
            Self::Less => Some(Comparator::Less),
            Self::LessEqual => Some(Comparator::LessOrEqual),
            Self::Greater => Some(Comparator::Greater),
            Self::GreaterEqual => Some(Comparator::GreaterOrEqual),
            Self::Or | Self::And | Self::Begins | Self::Contains | Self::Plus | Self::Minus => None,
        }
    }
}
