//! Errors about the legacy parameters that expressions replaced.

use super::Error;
use crate::value::AttributeType;

/// ConditionalOperator is present without conditions.
pub fn operator_without_conditions() -> Error {
    Error::validation("ConditionalOperator cannot be used without Filter or Expected")
}

/// ConditionalOperator is present with a single condition.
pub fn operator_with_one_condition() -> Error {
    Error::validation("ConditionalOperator can only be used when Filter or Expected has two or more elements")
}

/// Value and AttributeValueList are both present.
pub fn value_and_list(attribute: &str) -> Error {
    invalid(format!("Value and AttributeValueList cannot be used together for Attribute: {attribute}"))
}

/// Exists and ComparisonOperator are both present.
pub fn exists_and_operator(attribute: &str) -> Error {
    invalid(format!("Exists and ComparisonOperator cannot be used together for Attribute: {attribute}"))
}

/// ComparisonOperator is present without a value.
pub fn operator_without_value(operator: &str, attribute: &str) -> Error {
    invalid(format!(
        "Value or AttributeValueList must be used with ComparisonOperator: {operator} for Attribute: {attribute}"
    ))
}

/// AttributeValueList is present without ComparisonOperator.
pub fn list_without_operator(attribute: &str) -> Error {
    invalid(format!("AttributeValueList can only be used with a ComparisonOperator for Attribute: {attribute}"))
}

/// Exists is true or absent, but there is no Value.
pub fn value_missing(exists: Option<bool>, attribute: &str) -> Error {
    let exists = exists.map_or("null", |exists| if exists { "true" } else { "false" });
    invalid(format!("Value must be provided when Exists is {exists} for Attribute: {attribute}"))
}

/// Exists is false, but there is a Value.
pub fn value_not_wanted(attribute: &str) -> Error {
    invalid(format!("Value cannot be used when Exists is false for Attribute: {attribute}"))
}

/// The comparison operator does not exist.
pub fn unknown_operator() -> Error {
    invalid("Invalid comparison operator")
}

/// The comparison operator has too many or too few values.
pub fn argument_count(operator: &str) -> Error {
    invalid(format!("Invalid number of argument(s) for the {operator} ComparisonOperator"))
}

/// The values of a comparison have different types.
pub fn types_differ() -> Error {
    invalid("AttributeValues inside AttributeValueList must be of same type")
}

/// The comparison operator does not accept values of this type.
pub fn operator_type(operator: &str, kind: AttributeType) -> Error {
    invalid(format!("ComparisonOperator {operator} is not valid for {kind} AttributeValue type"))
}

/// The lower bound of BETWEEN is above the upper bound.
pub fn bounds_reversed() -> Error {
    Error::validation(
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
    )
}

/// A PUT or ADD action has no value.
pub fn update_without_value() -> Error {
    invalid("Only DELETE action is allowed when no attribute value is specified")
}

/// ADD does not support the type of its value.
pub fn add_type(kind: AttributeType) -> Error {
    invalid(format!("ADD action is not supported for the type {kind}"))
}

/// The value of a DELETE action is not a set.
pub fn delete_type(kind: AttributeType) -> Error {
    invalid(format!("DELETE action with value is not supported for the type {kind}"))
}

/// The value of an ADD or DELETE action does not match the type of the stored attribute.
pub fn update_type() -> Error {
    Error::validation("Type mismatch for attribute to update")
}

/// The update action does not exist.
pub fn unknown_action() -> Error {
    Error::validation("1 validation error detected: Member must satisfy enum value set: [ADD, DELETE, PUT]' for Action")
}

/// The comparison operator is not allowed in key conditions.
pub fn key_operator(operator: &str) -> Error {
    Error::validation(format!("Unsupported KeyConditions ComparisonOperator: {operator}"))
}

fn invalid(reason: impl std::fmt::Display) -> Error {
    Error::validation(format!("One or more parameter values were invalid: {reason}"))
}
