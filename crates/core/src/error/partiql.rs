//! Texts about PartiQL statements.
//!
//! A statement is refused in this order: it cannot be read ([`malformed`]), it lacks parameters, a literal has no value, an
//! operand does not fit its operator, and last what only the table's schema tells.

use std::fmt::Display;

use super::expression::{Flaw, bound};
use super::{Error, ErrorCode};
use crate::expression::Path;
use crate::value::{AttributeType, Value};

/// The statement cannot be read; some reasons have no words.
pub fn malformed(reason: &str) -> Error {
    Error::validation(format!("Statement wasn't well formed, can't be processed: {reason}"))
}

/// A `?` has no parameter.
pub fn parameter_count_mismatch() -> Error {
    Error::validation("Number of parameters in request and statement don't match.")
}

/// A statement that is an expression and not EXISTS.
pub fn unsupported_operation(name: &str) -> Error {
    Error::validation(format!("Unsupported operation: {name}"))
}

/// EXISTS, or another expression with an operator, stands outside a transaction.
pub fn exists_outside_transaction() -> Error {
    Error::validation("EXISTS can only be used in ExecuteTransaction write requests.")
}

/// EXISTS holds no key, or no condition beside the key.
pub fn exists_without_condition() -> Error {
    Error::validation("EXISTS() must contain a single item read with additional condition")
}

/// FROM holds something else than one table or index.
pub fn several_sources() -> Error {
    Error::validation("Only select from a single table or index is supported.")
}

/// A table has an alias.
pub fn aliasing() -> Error {
    Error::validation("Aliasing is not supported")
}

/// A name is empty.
pub fn empty_path_component() -> Error {
    Error::validation("Path component cannot be an empty string")
}

/// FROM has more than a table and an index.
pub fn too_many_path_components() -> Error {
    Error::validation("A path may contain at most 2 components in the FROM clause")
}

/// INSERT names more than a table.
pub fn insert_into_index(at: impl Display) -> Error {
    let text = "FROM clause may only contain a single table name in data manipulation statements";
    Error::validation(format!("{text} at {at}"))
}

/// UPDATE or DELETE names an index.
pub fn write_on_index() -> Error {
    Error::validation("This operation is not supported on an index")
}

/// Something that is no step of a path stands in one.
pub fn unexpected_path_component(at: impl Display) -> Error {
    Error::validation(format!("Unexpected path component at {at}"))
}

/// There is no such function here.
pub fn unrecognized_function(name: &str, at: impl Display) -> Error {
    Error::validation(format!("Unrecognized function: {name} at {at}"))
}

/// A SELECT stands inside a condition.
pub fn unsupported_token(token: &str, at: impl Display) -> Error {
    Error::validation(format!("Unsupported token in expression: {token} at {at}"))
}

/// WHERE holds no condition.
pub fn where_is_not_boolean() -> Error {
    Error::validation("WHERE clause must contain an expression that resolves to a boolean")
}

/// `= MISSING`.
pub fn missing_compared() -> Error {
    Error::validation("MISSING must be compared using IS operator")
}

/// An operator that conditions do not have.
pub fn unsupported_condition_operator(operator: &str) -> Error {
    Error::validation(format!("Unsupported operator in Condition Expression. Operator: {operator}"))
}

/// An operator that assignments do not have.
pub fn unsupported_update_operator(operator: &str) -> Error {
    Error::validation(format!("Unsupported operator in Update Expression. Operator: {operator}"))
}

/// A type that IS does not test.
pub fn unsupported_is_type(name: &str, at: impl Display) -> Error {
    let supported = "[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]";
    Error::validation(format!(
        "Unsupported data type for IS operator: {name}. Supported data types are {supported} at {at}"
    ))
}

/// What is wrong with an operator or an operand, in the words of expressions.
fn flawed(flaw: &Flaw) -> Error {
    Error::validation(flaw.to_string())
}

/// More operators than the service allows.
pub fn too_many_operators(count: usize) -> Error {
    flawed(&Flaw::TooManyOperators(count))
}

/// More operands than IN takes.
pub fn too_many_in_operands(count: usize) -> Error {
    flawed(&Flaw::TooManyInOperands(count))
}

/// A function has too many or too few operands.
pub fn operand_count(function: &str, count: usize) -> Error {
    flawed(&Flaw::OperandCount { function: function.to_owned(), count })
}

/// An operand is of a type that the operator does not take; `None` where a constant is wanted and there is none.
pub fn operand_type(operator: &str, kind: Option<AttributeType>) -> Error {
    flawed(&Flaw::OperandType { operator: operator.to_owned(), kind })
}

/// The type of `attribute_type` is none of the service's.
pub fn unknown_attribute_type(name: &str) -> Error {
    flawed(&Flaw::UnknownType(name.to_owned()))
}

/// A function that wants a path has something else.
pub fn path_required(function: &str) -> Error {
    flawed(&Flaw::PathRequired(function.to_owned()))
}

/// A path is compared with itself.
pub fn operands_not_distinct(operator: &str, path: &Path) -> Error {
    flawed(&Flaw::SameOperands { operator: operator.to_owned(), path: path.clone() })
}

/// The ends of BETWEEN are of different types.
pub fn between_types(low: &Value, high: &Value) -> Error {
    flawed(&Flaw::BoundTypes(bound(low.view()), bound(high.view())))
}

/// The ends of BETWEEN are in the wrong order.
pub fn between_order(low: &Value, high: &Value) -> Error {
    flawed(&Flaw::BoundOrder(bound(low.view()), bound(high.view())))
}

/// Two paths of an update overlap.
pub fn paths_overlap(one: &Path, two: &Path) -> Error {
    flawed(&Flaw::Overlap(one.clone(), two.clone()))
}

/// `set_add` or `set_delete` has not two arguments.
pub fn set_function_count(function: &str, at: impl Display) -> Error {
    Error::validation(format!("{function} must have exactly two arguments at {at}"))
}

/// `set_add` or `set_delete` is assigned to another path than it starts from.
pub fn set_function_target(function: &str, at: impl Display) -> Error {
    Error::validation(format!("The first argument to {function} must equal the assignment value at {at}"))
}

/// `set_add` or `set_delete` is given something else than a set.
pub fn set_function_operand(function: &str, at: impl Display) -> Error {
    Error::validation(format!("The second argument to {function} must be a value with type SET at {at}"))
}

/// A set literal without elements.
pub fn empty_bag() -> Error {
    Error::validation("Empty bags are not supported")
}

/// A set literal with an element of another type, which has a place unless the first element is a number.
pub fn bag_element(at: Option<&dyn Display>) -> Error {
    let text = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags";
    Error::validation(at.map_or_else(|| text.to_owned(), |at| format!("{text} at {at}")))
}

/// A set literal has a string twice.
pub fn duplicate_strings(elements: &str) -> Error {
    let text = "One or more parameter values were invalid";
    Error::validation(format!("{text}: Input collection [{elements}] contains duplicates."))
}

/// A set literal has a number twice.
pub fn duplicate_numbers(elements: &str, path: &str) -> Error {
    let text = "One or more parameter values were invalid";
    Error::validation(format!("{text}: Input collection [{elements}] contains duplicates! under root{path}"))
}

/// Something that is no value stands for one.
pub fn unsupported_value(name: &str, path: &str, at: impl Display) -> Error {
    Error::validation(format!("Unsupported data type: {name} under key root{path} at {at}"))
}

/// A literal between backticks.
pub fn ion_literal(kind: &str, path: &str, at: impl Display) -> Error {
    Error::validation(format!("Ion Literals are not supported: {kind} under key root{path} at {at}"))
}

/// A number literal is too large.
pub fn number_overflow(path: &str) -> Error {
    let text = "Number overflow. Attempting to store a number with magnitude larger than supported range";
    Error::validation(format!("{text} under root{path}"))
}

/// A number literal is too near to zero.
pub fn number_underflow(path: &str) -> Error {
    let text = "Number underflow. Attempting to store a number with magnitude smaller than supported range";
    Error::validation(format!("{text} under root{path}"))
}

/// A number literal has too many digits.
pub fn number_precision(path: &str) -> Error {
    let text = "Attempting to store more than 38 significant digits in a Number";
    Error::validation(format!("{text} under root{path}"))
}

/// A literal nests too deep.
pub fn nesting(path: &str) -> Error {
    Error::validation(format!("Nesting Levels have exceeded supported limits under root{path}"))
}

/// The argument of ORDER BY is no attribute.
pub fn order_argument(found: &str, at: impl Display) -> Error {
    Error::validation(format!("Argument to ORDER BY must be of type VariableReference. Type: {found} at {at}"))
}

/// ORDER BY names an attribute that is not part of the key.
pub fn order_by_other_attribute(name: &str) -> Error {
    Error::validation(format!("Attribute {name} in ORDER BY clause must be part of the primary key"))
}

/// ORDER BY without WHERE.
pub fn order_without_where() -> Error {
    Error::validation("Must have WHERE clause in the statement when using ORDER BY clause.")
}

/// ORDER BY where no partition is given.
pub fn order_without_partition() -> Error {
    let text = "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.";
    Error::validation(text)
}

/// ORDER BY the sort key alone, over several partitions.
pub fn order_over_partitions() -> Error {
    let text = "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.";
    Error::validation(text)
}

/// DELETE returns something else than the old item; `clause` is such as `MODIFIED OLD`.
pub fn delete_returning(clause: &str) -> Error {
    let rule = "Only RETURNING ALL OLD * is allowed in DELETE statements.";
    Error::validation(format!("Invalid returning clause: RETURNING {clause} *. {rule}"))
}

/// UPDATE or DELETE does not give the whole key.
pub fn key_required() -> Error {
    Error::validation("Where clause does not contain a mandatory equality on all key attributes")
}

/// UPDATE or DELETE gives a key attribute two values.
pub fn several_keys(name: &str) -> Error {
    let rule = "Only single item Update/Insert/Delete are supported";
    Error::validation(format!("Multiple conditions on same key {name}. {rule}"))
}

/// UPDATE changes the key.
pub fn key_updated(name: &str) -> Error {
    let text = "One or more parameter values were invalid: Cannot update attribute";
    Error::validation(format!("{text} {name}. This attribute is part of the key"))
}

const KEY_TYPE: &str = "Key attribute's data type should match its data type in table's schema: Key";
const KEY_NOT_SCALAR: &str = "Key value must be of type S, N, or B. Key name:";

/// A key is compared with a value of another type than the key's.
pub fn key_type(name: &str) -> Error {
    Error::validation(format!("{KEY_TYPE} {name}"))
}

/// Whether the error is that a key has another type than the table's.
pub fn is_about_key_types(error: &Error) -> bool {
    error.message().starts_with(KEY_TYPE) || error.message().starts_with(KEY_NOT_SCALAR)
}

/// A key is compared with a value of a type that no key has.
pub fn key_not_scalar(name: &str, kind: AttributeType) -> Error {
    Error::validation(format!("{KEY_NOT_SCALAR} {name}, Key type: {kind}"))
}

/// A partition key is too long.
pub fn partition_key_size() -> Error {
    Error::validation("Size of hashkey has exceeded the maximum size limit of2048 bytes")
}

/// A sort key is too long.
pub fn sort_key_size() -> Error {
    Error::validation("Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
}

/// Two alternatives of a WHERE clause name the same key.
pub fn overlapping_conditions() -> Error {
    Error::validation("Overlapping conditions with range keys are not supported in where clause")
}

/// FROM names an index that is not there.
pub fn no_such_index() -> Error {
    Error::validation("The table does not have the specified index")
}

/// FROM names an index whose key has several partition or sort attributes.
pub fn multi_attribute_index() -> Error {
    let text =
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys.";
    Error::validation(text)
}

/// A consistent read of a global secondary index.
pub fn consistent_global_index() -> Error {
    Error::validation("Strongly consistent read is not supported on Global Secondary Indexes")
}

/// A SELECT of a batch or a transaction names something else than one key; `operation` is the service's name.
pub fn select_needs_key(operation: &str) -> Error {
    Error::validation(format!("Select statements within {operation} must specify the primary key in the where clause."))
}

/// A SELECT of a transaction reads an index.
pub fn index_in_transaction() -> Error {
    Error::validation("Reads on indices are not supported within transactions.")
}

/// A statement of a transaction returns something.
pub fn returning_in_transaction() -> Error {
    Error::validation("RETURNING clause is not supported in ExecuteTransaction.")
}

/// What is wrong with the statement at that place of a transaction.
pub fn in_transaction(place: usize, error: &Error) -> Error {
    let message = format!("Validation failed in TransactStatements[{place}]: {}", error.message());
    Error::new(error.code(), message)
}

/// A transaction reads and writes.
pub fn mixed_transaction() -> Error {
    let text = "ExecuteTransaction API does not support both read and write operations in the same request.";
    Error::validation(text)
}

/// A batch reads and writes.
pub fn mixed_batch() -> Error {
    Error::validation("Read and write requests together in the same batch is not supported.")
}

/// INSERT found an item with the key.
pub fn duplicate_item() -> Error {
    Error::new(ErrorCode::DuplicateItem, "Duplicate primary key exists in table")
}

/// The token was made for another statement.
pub fn next_token_mismatch() -> Error {
    Error::validation("NextToken does not match request")
}

/// The token is none of ours.
pub fn next_token_invalid() -> Error {
    Error::validation("Invalid NextToken")
}
