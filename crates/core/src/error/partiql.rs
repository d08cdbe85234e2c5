//! Errors about PartiQL statements.
//!
//! Checks run in this order, so the first failing one decides the error: syntax ([`malformed`]), number of
//! parameters, literal values, operand types, and last the checks that need the table's schema.

use std::fmt::Display;

use super::expression::{Flaw, bound};
use super::{Error, ErrorCode};
use crate::expression::Path;
use crate::value::{AttributeType, Value};

/// The statement does not parse; DynamoDB leaves some reasons empty.
pub fn malformed(reason: &str) -> Error {
    Error::validation(format!("Statement wasn't well formed, can't be processed: {reason}"))
}

/// A `?` placeholder has no parameter. Surplus parameters are accepted.
pub fn parameter_count_mismatch() -> Error {
    Error::validation("Number of parameters in request and statement don't match.")
}

/// The statement is an expression other than EXISTS.
pub fn unsupported_operation(name: &str) -> Error {
    Error::validation(format!("Unsupported operation: {name}"))
}

/// EXISTS or another expression with an operator is used outside a transaction.
pub fn exists_outside_transaction() -> Error {
    Error::validation("EXISTS can only be used in ExecuteTransaction write requests.")
}

/// EXISTS lacks the key, or lacks a condition besides the key.
pub fn exists_without_condition() -> Error {
    Error::validation("EXISTS() must contain a single item read with additional condition")
}

/// FROM has something other than a single table or index.
pub fn several_sources() -> Error {
    Error::validation("Only select from a single table or index is supported.")
}

/// The table has an alias.
pub fn aliasing() -> Error {
    Error::validation("Aliasing is not supported")
}

/// A path component is empty.
pub fn empty_path_component() -> Error {
    Error::validation("Path component cannot be an empty string")
}

/// FROM has more than two path components (table and index).
pub fn too_many_path_components() -> Error {
    Error::validation("A path may contain at most 2 components in the FROM clause")
}

/// INSERT names more than a table.
pub fn insert_into_index(at: impl Display) -> Error {
    let text = "FROM clause may only contain a single table name in data manipulation statements";
    Error::validation(format!("{text} at {at}"))
}

/// UPDATE or DELETE addresses an index.
pub fn write_on_index() -> Error {
    Error::validation("This operation is not supported on an index")
}

/// A path contains an unsupported component.
pub fn unexpected_path_component(at: impl Display) -> Error {
    Error::validation(format!("Unexpected path component at {at}"))
}

/// The function does not exist or is not allowed at this position.
pub fn unrecognized_function(name: &str, at: impl Display) -> Error {
    Error::validation(format!("Unrecognized function: {name} at {at}"))
}

/// A condition contains an unsupported token, such as a nested SELECT.
pub fn unsupported_token(token: &str, at: impl Display) -> Error {
    Error::validation(format!("Unsupported token in expression: {token} at {at}"))
}

/// WHERE is not a boolean expression.
pub fn where_is_not_boolean() -> Error {
    Error::validation("WHERE clause must contain an expression that resolves to a boolean")
}

/// MISSING is compared with an operator other than IS.
pub fn missing_compared() -> Error {
    Error::validation("MISSING must be compared using IS operator")
}

/// The operator is not allowed in conditions.
pub fn unsupported_condition_operator(operator: &str) -> Error {
    Error::validation(format!("Unsupported operator in Condition Expression. Operator: {operator}"))
}

/// The operator is not allowed in assignments.
pub fn unsupported_update_operator(operator: &str) -> Error {
    Error::validation(format!("Unsupported operator in Update Expression. Operator: {operator}"))
}

/// IS does not support this type.
pub fn unsupported_is_type(name: &str, at: impl Display) -> Error {
    let supported = "[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]";
    Error::validation(format!(
        "Unsupported data type for IS operator: {name}. Supported data types are {supported} at {at}"
    ))
}

/// Converts a mistake that expressions have too, without the name of a parameter.
fn flawed(flaw: &Flaw) -> Error {
    Error::validation(flaw.to_string())
}

/// The statement has more operators than DynamoDB allows.
pub fn too_many_operators(count: usize) -> Error {
    flawed(&Flaw::TooManyOperators(count))
}

/// IN has more operands than DynamoDB allows.
pub fn too_many_in_operands(count: usize) -> Error {
    flawed(&Flaw::TooManyInOperands(count))
}

/// A function has too many or too few operands.
pub fn operand_count(function: &str, count: usize) -> Error {
    flawed(&Flaw::OperandCount { function: function.to_owned(), count })
}

/// An operand has a type that the operator does not accept; `None` if it must be a constant and is not.
pub fn operand_type(operator: &str, kind: Option<AttributeType>) -> Error {
    flawed(&Flaw::OperandType { operator: operator.to_owned(), kind })
}

/// The operand of `attribute_type` is not a type name.
pub fn unknown_attribute_type(name: &str) -> Error {
    flawed(&Flaw::UnknownType(name.to_owned()))
}

/// A function requires a path and has another operand.
pub fn path_required(function: &str) -> Error {
    flawed(&Flaw::PathRequired(function.to_owned()))
}

/// A path is compared with itself.
pub fn operands_not_distinct(operator: &str, path: &Path) -> Error {
    flawed(&Flaw::SameOperands { operator: operator.to_owned(), path: path.clone() })
}

/// The bounds of BETWEEN have different types.
pub fn between_types(low: &Value, high: &Value) -> Error {
    flawed(&Flaw::BoundTypes(bound(low.view()), bound(high.view())))
}

/// The lower bound of BETWEEN is above the upper bound.
pub fn between_order(low: &Value, high: &Value) -> Error {
    flawed(&Flaw::BoundOrder(bound(low.view()), bound(high.view())))
}

/// Two paths of an update overlap.
pub fn paths_overlap(one: &Path, two: &Path) -> Error {
    flawed(&Flaw::Overlap(one.clone(), two.clone()))
}

/// `set_add` or `set_delete` does not have two arguments.
pub fn set_function_count(function: &str, at: impl Display) -> Error {
    Error::validation(format!("{function} must have exactly two arguments at {at}"))
}

/// The first argument of `set_add` or `set_delete` is not the assigned path.
pub fn set_function_target(function: &str, at: impl Display) -> Error {
    Error::validation(format!("The first argument to {function} must equal the assignment value at {at}"))
}

/// The second argument of `set_add` or `set_delete` is not a set.
pub fn set_function_operand(function: &str, at: impl Display) -> Error {
    Error::validation(format!("The second argument to {function} must be a value with type SET at {at}"))
}

/// A set literal is empty.
pub fn empty_bag() -> Error {
    Error::validation("Empty bags are not supported")
}

/// A set literal mixes element types, or has an element that is neither a string nor a number. DynamoDB omits the
/// position for most wrong elements of a number set; `at` is `None` then.
pub fn bag_element(at: Option<&dyn Display>) -> Error {
    let text = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags";
    Error::validation(at.map_or_else(|| text.to_owned(), |at| format!("{text} at {at}")))
}

/// A set literal contains a string twice.
pub fn duplicate_strings(elements: &str) -> Error {
    let text = "One or more parameter values were invalid";
    Error::validation(format!("{text}: Input collection [{elements}] contains duplicates."))
}

/// A set literal contains a number twice.
pub fn duplicate_numbers(elements: &str, path: &str) -> Error {
    let text = "One or more parameter values were invalid";
    Error::validation(format!("{text}: Input collection [{elements}] contains duplicates! under root{path}"))
}

/// An expression that is not a value is used as one.
pub fn unsupported_value(name: &str, path: &str, at: impl Display) -> Error {
    Error::validation(format!("Unsupported data type: {name} under key root{path} at {at}"))
}

/// An Ion literal (in backticks) is used.
pub fn ion_literal(kind: &str, path: &str, at: impl Display) -> Error {
    Error::validation(format!("Ion Literals are not supported: {kind} under key root{path} at {at}"))
}

/// A number literal exceeds the supported magnitude.
pub fn number_overflow(path: &str) -> Error {
    let text = "Number overflow. Attempting to store a number with magnitude larger than supported range";
    Error::validation(format!("{text} under root{path}"))
}

/// A number literal is smaller than the supported magnitude.
pub fn number_underflow(path: &str) -> Error {
    let text = "Number underflow. Attempting to store a number with magnitude smaller than supported range";
    Error::validation(format!("{text} under root{path}"))
}

/// A number literal has more than 38 significant digits.
pub fn number_precision(path: &str) -> Error {
    let text = "Attempting to store more than 38 significant digits in a Number";
    Error::validation(format!("{text} under root{path}"))
}

/// A literal exceeds the nesting limit.
pub fn nesting(path: &str) -> Error {
    Error::validation(format!("Nesting Levels have exceeded supported limits under root{path}"))
}

/// The argument of ORDER BY is not an attribute.
pub fn order_argument(found: &str, at: impl Display) -> Error {
    Error::validation(format!("Argument to ORDER BY must be of type VariableReference. Type: {found} at {at}"))
}

/// ORDER BY names an attribute that is not part of the key.
pub fn order_by_other_attribute(name: &str) -> Error {
    Error::validation(format!("Attribute {name} in ORDER BY clause must be part of the primary key"))
}

/// ORDER BY is used without WHERE.
pub fn order_without_where() -> Error {
    Error::validation("Must have WHERE clause in the statement when using ORDER BY clause.")
}

/// ORDER BY is used without an equality condition on the partition key.
pub fn order_without_partition() -> Error {
    let text = "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.";
    Error::validation(text)
}

/// ORDER BY names only the sort key although several partitions are selected.
pub fn order_over_partitions() -> Error {
    let text = "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.";
    Error::validation(text)
}

/// DELETE has a RETURNING clause other than ALL OLD; `clause` is for example `MODIFIED OLD`.
pub fn delete_returning(clause: &str) -> Error {
    let rule = "Only RETURNING ALL OLD * is allowed in DELETE statements.";
    Error::validation(format!("Invalid returning clause: RETURNING {clause} *. {rule}"))
}

/// UPDATE or DELETE does not specify the whole key.
pub fn key_required() -> Error {
    Error::validation("Where clause does not contain a mandatory equality on all key attributes")
}

/// UPDATE or DELETE has two conditions on one key attribute.
pub fn several_keys(name: &str) -> Error {
    let rule = "Only single item Update/Insert/Delete are supported";
    Error::validation(format!("Multiple conditions on same key {name}. {rule}"))
}

/// UPDATE changes a key attribute.
pub fn key_updated(name: &str) -> Error {
    let text = "One or more parameter values were invalid: Cannot update attribute";
    Error::validation(format!("{text} {name}. This attribute is part of the key"))
}

const KEY_TYPE: &str = "Key attribute's data type should match its data type in table's schema: Key";
const KEY_NOT_SCALAR: &str = "Key value must be of type S, N, or B. Key name:";

/// A key attribute is compared with a value that does not have the type in the schema.
pub fn key_type(name: &str) -> Error {
    Error::validation(format!("{KEY_TYPE} {name}"))
}

/// Returns whether the error reports a key value of the wrong type.
pub fn is_about_key_types(error: &Error) -> bool {
    error.message().starts_with(KEY_TYPE) || error.message().starts_with(KEY_NOT_SCALAR)
}

/// A key attribute is compared with a value of a type that keys cannot have.
pub fn key_not_scalar(name: &str, kind: AttributeType) -> Error {
    Error::validation(format!("{KEY_NOT_SCALAR} {name}, Key type: {kind}"))
}

/// A partition key exceeds 2048 bytes. The missing space in the message is DynamoDB's.
pub fn partition_key_size() -> Error {
    Error::validation("Size of hashkey has exceeded the maximum size limit of2048 bytes")
}

/// A sort key exceeds 1024 bytes.
pub fn sort_key_size() -> Error {
    Error::validation("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
}

/// Two alternatives of a WHERE clause select the same key.
pub fn overlapping_conditions() -> Error {
    Error::validation("Overlapping conditions with range keys are not supported in where clause")
}

/// FROM names an index that does not exist.
pub fn no_such_index() -> Error {
    Error::validation("The table does not have the specified index")
}

/// FROM names an index with several partition or sort key attributes.
pub fn multi_attribute_index() -> Error {
    let text =
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys.";
    Error::validation(text)
}

/// A strongly consistent read addresses a global secondary index.
pub fn consistent_global_index() -> Error {
    Error::validation("Strongly consistent read is not supported on Global Secondary Indexes")
}

/// A SELECT of a batch or transaction does not select a single key; `operation` is DynamoDB's name of the request.
pub fn select_needs_key(operation: &str) -> Error {
    Error::validation(format!("Select statements within {operation} must specify the primary key in the where clause."))
}

/// A SELECT of a transaction reads an index.
pub fn index_in_transaction() -> Error {
    Error::validation("Reads on indices are not supported within transactions.")
}

/// A statement of a transaction has a RETURNING clause.
pub fn returning_in_transaction() -> Error {
    Error::validation("RETURNING clause is not supported in ExecuteTransaction.")
}

/// Adds the position of the statement in its transaction to an error.
pub fn in_transaction(place: usize, error: &Error) -> Error {
    let message = format!("Validation failed in TransactStatements[{place}]: {}", error.message());
    Error::new(error.code(), message)
}

/// A transaction mixes reads and writes.
pub fn mixed_transaction() -> Error {
    let text = "ExecuteTransaction API does not support both read and write operations in the same request.";
    Error::validation(text)
}

/// A batch mixes reads and writes.
pub fn mixed_batch() -> Error {
    Error::validation("Read and write requests together in the same batch is not supported.")
}

/// INSERT found an item with the same key.
pub fn duplicate_item() -> Error {
    Error::new(ErrorCode::DuplicateItem, "Duplicate primary key exists in table")
}

/// The token belongs to another statement.
pub fn next_token_mismatch() -> Error {
    Error::validation("NextToken does not match request")
}

/// The token is malformed.
pub fn next_token_invalid() -> Error {
    Error::validation("Invalid NextToken")
}
