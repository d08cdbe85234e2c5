//! Errors about expressions, their placeholders, and the updates they describe.
//!
//! A [`Flaw`] is a mistake inside an expression; [`invalid`] prefixes it with the name of the request parameter.

use std::fmt;

use super::Error;
use crate::expression::Path;
use crate::value::{AttributeType, NumberError, ValueRef};

/// Request parameter that contains an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionKind {
    /// `ConditionExpression`
    Condition,
    /// `FilterExpression`
    Filter,
    /// `KeyConditionExpression`
    KeyCondition,
    /// `UpdateExpression`
    Update,
    /// `ProjectionExpression`
    Projection,
}

impl ExpressionKind {
    /// Returns the name of the request parameter.
    pub fn parameter(self) -> &'static str {
        match self {
            Self::Condition => "ConditionExpression",
            Self::Filter => "FilterExpression",
            Self::KeyCondition => "KeyConditionExpression",
            Self::Update => "UpdateExpression",
            Self::Projection => "ProjectionExpression",
        }
    }
}

/// Reason for which an expression is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The expression is empty.
    Empty,
    /// The expression is longer than DynamoDB allows.
    TooLong,
    /// A token is not allowed at its position.
    Syntax {
        /// The unexpected token.
        token: String,
        /// The token with its neighbours.
        near: String,
    },
    /// The expression has more operators and functions than DynamoDB allows.
    TooManyOperators(usize),
    /// Parentheses directly inside parentheses.
    RedundantParentheses,
    /// The function does not exist.
    UnknownFunction(String),
    /// The function is only allowed in update expressions.
    NotForConditions(String),
    /// The function is only allowed in condition expressions.
    NotForUpdates(String),
    /// A function is used as an operand or as a condition, but cannot be one.
    MisusedFunction(String),
    /// An attribute name is a reserved word and needs a `#name` placeholder.
    ReservedWord(String),
    /// The request does not define this `#name` placeholder.
    UndefinedName(String),
    /// The request does not define this `:value` placeholder.
    UndefinedValue(String),
    /// A function has too few or too many operands.
    OperandCount {
        /// Name of the function, as written.
        function: String,
        /// Number of operands in the expression.
        count: usize,
    },
    /// `IN` has too many operands.
    TooManyInOperands(usize),
    /// Both operands are the same path.
    SameOperands {
        /// The operator or function.
        operator: String,
        /// The path that is both operands.
        path: Path,
    },
    /// A constant has a type that the operator or function does not accept.
    OperandType {
        /// The operator or function.
        operator: String,
        /// Type of the constant; `None` if the operand must be a constant and is not.
        kind: Option<AttributeType>,
    },
    /// ADD or DELETE does not accept the type of its constant.
    ActionType {
        /// `ADD` or `DELETE`.
        action: &'static str,
        /// Type of the constant.
        kind: AttributeType,
    },
    /// A function requires a path and has another operand.
    PathRequired(String),
    /// The operand of `attribute_type` is not a type name.
    UnknownType(String),
    /// The bounds of BETWEEN have different types; the fields are the bounds as [`bound`] formats them.
    BoundTypes(String, String),
    /// The lower bound of BETWEEN is above the upper bound.
    BoundOrder(String, String),
    /// A section of an update expression occurs twice.
    DuplicateSection(&'static str),
    /// One path is equal to the other or a prefix of it.
    Overlap(Path, Path),
    /// One path treats an attribute as a map, the other as a list.
    Conflict(Path, Path),
    /// A path has more elements than the nesting limit.
    PathTooDeep(usize),
    /// A list index is out of range.
    IndexTooLarge(String),
    /// A key condition has two conditions on one attribute.
    RepeatedKey,
    /// A key condition uses a nested attribute.
    NestedKey,
    /// A key condition contains a nested operation.
    NestedOperation,
    /// A key condition uses an operator or function that is not allowed there.
    KeyOperator(String),
    /// A comparison of a key condition has no attribute.
    NoKeyAttribute,
    /// A comparison of a key condition has two attributes.
    SeveralKeyAttributes,
    /// The key attribute is not the first operand of this operator.
    KeyNotFirst(String),
}

/// The expression in the parameter of this kind is rejected.
pub fn invalid(kind: ExpressionKind, flaw: &Flaw) -> Error {
    match flaw {
        Flaw::KeyOperator(_) | Flaw::NoKeyAttribute | Flaw::SeveralKeyAttributes | Flaw::KeyNotFirst(_) => {
            Error::validation(flaw.to_string())
        }
        _ => Error::validation(format!("Invalid {}: {flaw}", kind.parameter())),
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DISTINCT: &str =
            "The first operand must be distinct from the remaining operands for this operator or function";
        const REWRITE: &str = "must remove or rewrite one of these paths";
        match self {
            Self::Empty => f.write_str("The expression can not be empty;"),
            Self::TooLong => f.write_str("Expression size has exceeded the maximum allowed size;"),
            Self::Syntax { token, near } => write!(f, "Syntax error; token: \"{token}\", near: \"{near}\""),
            Self::TooManyOperators(count) => {
                write!(f, "The expression contains too many operators; operator count: {count}")
            }
            Self::RedundantParentheses => f.write_str("The expression has redundant parentheses;"),
            Self::UnknownFunction(name) => write!(f, "Invalid function name; function: {name}"),
            Self::NotForConditions(name) => {
                write!(f, "The function is not allowed in a condition expression; function: {name}")
            }
            Self::NotForUpdates(name) => {
                write!(f, "The function is not allowed in an update expression; function: {name}")
            }
            Self::MisusedFunction(name) => {
                write!(f, "The function is not allowed to be used this way in an expression; function: {name}")
            }
            Self::ReservedWord(word) => {
                write!(f, "Attribute name is a reserved keyword; reserved keyword: {word}")
            }
            Self::UndefinedName(name) => write!(
                f,
                "An expression attribute name used in the document path is not defined; attribute name: {name}"
            ),
            Self::UndefinedValue(name) => {
                write!(f, "An expression attribute value used in expression is not defined; attribute value: {name}")
            }
            Self::OperandCount { function, count } => write!(
                f,
                "Incorrect number of operands for operator or function; operator or function: {function}, number of operands: {count}"
            ),
            Self::TooManyInOperands(count) => {
                write!(f, "The IN operator is provided with too many operands; number of operands: {count}")
            }
            Self::SameOperands { operator, path } => {
                write!(f, "{DISTINCT}; operator: {operator}, first operand: {}", path_list(path))
            }
            Self::OperandType { operator, kind } => write!(
                f,
                "Incorrect operand type for operator or function; operator or function: {operator}, operand type: {}",
                kind.map_or("{NS,SS,L,BS,N,M,B,BOOL,NULL,S}", AttributeType::name)
            ),
            Self::ActionType { action, kind } => write!(
                f,
                "Incorrect operand type for operator or function; operator: {action}, operand type: {}, typeSet: ALLOWED_FOR_{action}_OPERAND",
                long_type_name(*kind)
            ),
            Self::PathRequired(function) => {
                write!(f, "Operator or function requires a document path; operator or function: {function}")
            }
            Self::UnknownType(name) => write!(
                f,
                "Invalid attribute type name found; type: {name}, valid types: {{B,NULL,SS,BOOL,L,BS,N,NS,S,M}}"
            ),
            Self::BoundTypes(low, high) => write!(
                f,
                "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: {low}, upper bound operand: {high}"
            ),
            Self::BoundOrder(low, high) => write!(
                f,
                "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: {low}, upper bound operand: {high}"
            ),
            Self::DuplicateSection(name) => {
                write!(f, "The \"{name}\" section can only be used once in an update expression;")
            }
            Self::Overlap(one, two) => write!(
                f,
                "Two document paths overlap with each other; {REWRITE}; path one: {}, path two: {}",
                path_list(one),
                path_list(two)
            ),
            Self::Conflict(one, two) => write!(
                f,
                "Two document paths conflict with each other; {REWRITE}; path one: {}, path two: {}",
                path_list(one),
                path_list(two)
            ),
            Self::PathTooDeep(depth) => {
                write!(f, "The document path has too many nesting levels; nesting levels: {depth}")
            }
            Self::IndexTooLarge(index) => {
                write!(f, "List index is not within the allowable range; index: [{index}]")
            }
            Self::RepeatedKey => f.write_str("KeyConditionExpressions must only contain one condition per key"),
            Self::NestedKey => f.write_str("KeyConditionExpressions cannot have conditions on nested attributes"),
            Self::NestedOperation => f.write_str("KeyConditionExpressions cannot contain nested operations"),
            Self::KeyOperator(operator) => write!(f, "Invalid operator used in KeyConditionExpression: {operator}"),
            Self::NoKeyAttribute => {
                f.write_str("Invalid condition in KeyConditionExpression: No key attribute specified")
            }
            Self::SeveralKeyAttributes => f.write_str(
                "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition",
            ),
            Self::KeyNotFirst(operator) => write!(
                f,
                "Invalid condition in KeyConditionExpression: {operator} operator must have the key attribute as its first operand"
            ),
        }
    }
}

/// Formats a path as DynamoDB's messages do: `[a, [0], b]`.
pub fn path_list(path: &Path) -> String {
    use crate::expression::PathElement;
    let parts: Vec<String> = path
        .elements
        .iter()
        .map(|element| match element {
            PathElement::Attribute(name) => name.clone(),
            PathElement::Index(index) => format!("[{index}]"),
        })
        .collect();
    format!("[{}]", parts.join(", "))
}

/// Formats a bound of BETWEEN as DynamoDB's messages do: `AttributeValue: {N:5}`.
pub fn bound(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::S(text) => format!("AttributeValue: {{S:{text}}}"),
        ValueRef::N(number) => format!("AttributeValue: {{N:{number}}}"),
        ValueRef::B(bytes) => {
            let length = bytes.len();
            format!("AttributeValue: {{B:java.nio.HeapByteBuffer[pos=0 lim={length} cap={length}]}}")
        }
        other => format!("AttributeValue: {{{}:}}", other.kind()),
    }
}

fn long_type_name(kind: AttributeType) -> &'static str {
    match kind {
        AttributeType::S => "STRING",
        AttributeType::N => "NUMBER",
        AttributeType::B => "BINARY",
        AttributeType::Bool => "BOOLEAN",
        AttributeType::Null => "NULL",
        AttributeType::M => "MAP",
        AttributeType::L => "LIST",
        AttributeType::Ss => "STRING_SET",
        AttributeType::Ns => "NUMBER_SET",
        AttributeType::Bs => "BINARY_SET",
    }
}

/// The placeholder map is empty.
pub fn placeholders_empty(parameter: &'static str) -> Error {
    Error::validation(format!("{parameter} must not be empty"))
}

/// A key of the placeholder map is not a valid placeholder.
pub fn placeholder_syntax(parameter: &'static str, key: &str) -> Error {
    Error::validation(format!("{parameter} contains invalid key: Syntax error; key: \"{key}\""))
}

/// A key of the placeholder map is too long.
pub fn placeholder_too_long(parameter: &'static str, size: usize) -> Error {
    Error::validation(format!(
        "{parameter} contains invalid key: The expression attribute map contains a key that is too long; size of key: {size}"
    ))
}

/// A name placeholder stands for an invalid attribute name, for this reason.
pub fn placeholder_name(reason: &Error, key: &str) -> Error {
    let reason = reason.message();
    Error::validation(format!("ExpressionAttributeNames contains invalid value: {reason} for key {key}"))
}

/// No expression uses these placeholders.
pub fn placeholders_unused(parameter: &'static str, keys: &[&str]) -> Error {
    Error::validation(format!("Value provided in {parameter} unused in expressions: keys: {{{}}}", keys.join(", ")))
}

/// The path of an update does not lead into an existing map or list.
pub fn update_path_invalid() -> Error {
    Error::validation("The document path provided in the update expression is invalid for update")
}

/// An update reads an attribute that does not exist.
pub fn update_operand_missing() -> Error {
    Error::validation("The provided expression refers to an attribute that does not exist in the item")
}

/// An operand of an update has the wrong type.
pub fn update_operand_type() -> Error {
    Error::validation("An operand in the update expression has an incorrect data type")
}

/// An update would exceed the nesting limit.
pub fn update_nesting_too_deep() -> Error {
    Error::validation(
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
    )
}

/// The result of an update is not a valid number. DynamoDB reports a sum with too many digits as an overflow.
pub fn update_number(error: NumberError) -> Error {
    Error::validation(match error {
        NumberError::Underflow => {
            "Number underflow. Attempting to store a number with magnitude smaller than supported range"
        }
        NumberError::Overflow | NumberError::Precision | NumberError::NotANumber => {
            "Number overflow. Attempting to store a number with magnitude larger than supported range"
        }
    })
}
