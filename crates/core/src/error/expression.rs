//! Texts about expressions, their placeholders, and the updates they ask for.
//!
//! What is wrong inside an expression is a [`Flaw`]; [`invalid`] puts the name of the request's parameter in front of it.

use std::fmt;

use super::Error;
use crate::expression::Path;
use crate::value::{AttributeType, NumberError, ValueRef};

/// Which parameter of a request an expression came in.
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
    /// The parameter's name.
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

/// Why an expression is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// There is no text.
    Empty,
    /// The text is longer than the service takes.
    TooLong,
    /// A token stands where it must not; `near` is it with its neighbours.
    Syntax {
        /// The token.
        token: String,
        /// The token with its neighbours.
        near: String,
    },
    /// More operators and functions than the service takes.
    TooManyOperators(usize),
    /// Parentheses directly inside parentheses.
    RedundantParentheses,
    /// There is no such function.
    UnknownFunction(String),
    /// The function belongs to update expressions.
    NotForConditions(String),
    /// The function belongs to condition expressions.
    NotForUpdates(String),
    /// A function that cannot be an operand is one, or one that cannot be a condition.
    MisusedFunction(String),
    /// An attribute is named by a reserved word.
    ReservedWord(String),
    /// `#name` was not given.
    UndefinedName(String),
    /// `:value` was not given.
    UndefinedValue(String),
    /// A function has too few or too many operands.
    OperandCount {
        /// The function.
        function: String,
        /// How many there are.
        count: usize,
    },
    /// `IN` has too many operands.
    TooManyInOperands(usize),
    /// Both operands are the same path.
    SameOperands {
        /// The operator or function.
        operator: String,
        /// The path.
        path: Path,
    },
    /// A constant has a type that the operator or function cannot take.
    OperandType {
        /// The operator or function.
        operator: String,
        /// The type; `None` where a constant is required and there is none.
        kind: Option<AttributeType>,
    },
    /// ADD or DELETE is given a constant that it cannot take.
    ActionType {
        /// `ADD` or `DELETE`.
        action: &'static str,
        /// The type.
        kind: AttributeType,
    },
    /// A function needs a path and has something else.
    PathRequired(String),
    /// `attribute_type` is asked for a type that is none.
    UnknownType(String),
    /// The bounds of BETWEEN, as they are printed, are of different types.
    BoundTypes(String, String),
    /// The lower bound of BETWEEN is above the upper one.
    BoundOrder(String, String),
    /// A section of an update is there twice.
    DuplicateSection(&'static str),
    /// One path is the other, or leads into it.
    Overlap(Path, Path),
    /// One path takes for a map what the other takes for a list.
    Conflict(Path, Path),
    /// A path has more elements than documents have levels.
    PathTooDeep(usize),
    /// A list index is larger than any list.
    IndexTooLarge(String),
    /// A key condition has two conditions on one attribute.
    RepeatedKey,
    /// A key condition reaches into an attribute.
    NestedKey,
    /// A key condition computes something.
    NestedOperation,
    /// A key condition uses an operator or function that it must not.
    KeyOperator(String),
    /// One comparison of a key condition has no attribute.
    NoKeyAttribute,
    /// One comparison of a key condition has two attributes.
    SeveralKeyAttributes,
    /// The attribute is not the first operand.
    KeyNotFirst(String),
}

/// The expression in that parameter is refused.
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

/// A path as error texts list it: `[a, [0], b]`.
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

/// A bound of BETWEEN as error texts print it: `AttributeValue: {N:5}`.
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

/// The map of placeholders in that parameter has no entry.
pub fn placeholders_empty(parameter: &'static str) -> Error {
    Error::validation(format!("{parameter} must not be empty"))
}

/// A key of the map is no placeholder.
pub fn placeholder_syntax(parameter: &'static str, key: &str) -> Error {
    Error::validation(format!("{parameter} contains invalid key: Syntax error; key: \"{key}\""))
}

/// A key of the map is too long.
pub fn placeholder_too_long(parameter: &'static str, size: usize) -> Error {
    Error::validation(format!(
        "{parameter} contains invalid key: The expression attribute map contains a key that is too long; size of key: {size}"
    ))
}

/// A name placeholder stands for a name that is not valid, for that reason.
pub fn placeholder_name(reason: &Error, key: &str) -> Error {
    let reason = reason.message();
    Error::validation(format!("ExpressionAttributeNames contains invalid value: {reason} for key {key}"))
}

/// Placeholders of the map are used nowhere.
pub fn placeholders_unused(parameter: &'static str, keys: &[&str]) -> Error {
    Error::validation(format!("Value provided in {parameter} unused in expressions: keys: {{{}}}", keys.join(", ")))
}

/// An update writes where there is no map or list to write into.
pub fn update_path_invalid() -> Error {
    Error::validation("The document path provided in the update expression is invalid for update")
}

/// An update reads what is not there.
pub fn update_operand_missing() -> Error {
    Error::validation("The provided expression refers to an attribute that does not exist in the item")
}

/// An update computes with a value of the wrong type.
pub fn update_operand_type() -> Error {
    Error::validation("An operand in the update expression has an incorrect data type")
}

/// An update makes a document with too many levels.
pub fn update_nesting_too_deep() -> Error {
    Error::validation(
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
    )
}

/// An update computes a number that is none of the service's. A sum with too many digits is reported as an overflow.
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
