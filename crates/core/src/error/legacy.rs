//! Texts about the parameters from before expressions.

use super::Error;
use crate::value::AttributeType;

/// ConditionalOperator without anything to connect.
pub fn operator_without_conditions() -> Error {
    Error::validation("ConditionalOperator cannot be used without Filter or Expected")
}

/// ConditionalOperator with a single condition.
pub fn operator_with_one_condition() -> Error {
    Error::validation("ConditionalOperator can only be used when Filter or Expected has two or more elements")
}

/// Both ways of stating what a value is compared with.
pub fn value_and_list(attribute: &str) -> Error {
    invalid(format!("Value and AttributeValueList cannot be used together for Attribute: {attribute}"))
}

/// Exists beside a comparison.
pub fn exists_and_operator(attribute: &str) -> Error {
    invalid(format!("Exists and ComparisonOperator cannot be used together for Attribute: {attribute}"))
}

/// A comparison with nothing.
pub fn operator_without_value(operator: &str, attribute: &str) -> Error {
    invalid(format!(
        "Value or AttributeValueList must be used with ComparisonOperator: {operator} for Attribute: {attribute}"
    ))
}

/// Values without a comparison.
pub fn list_without_operator(attribute: &str) -> Error {
    invalid(format!("AttributeValueList can only be used with a ComparisonOperator for Attribute: {attribute}"))
}

/// An attribute is expected to exist, but not with which value.
pub fn value_missing(exists: Option<bool>, attribute: &str) -> Error {
    let exists = exists.map_or("null", |exists| if exists { "true" } else { "false" });
    invalid(format!("Value must be provided when Exists is {exists} for Attribute: {attribute}"))
}

/// An attribute is expected not to exist, but with a value.
pub fn value_not_wanted(attribute: &str) -> Error {
    invalid(format!("Value cannot be used when Exists is false for Attribute: {attribute}"))
}

/// There is no such comparison.
pub fn unknown_operator() -> Error {
    invalid("Invalid comparison operator")
}

/// A comparison with too many or too few values.
pub fn argument_count(operator: &str) -> Error {
    invalid(format!("Invalid number of argument(s) for the {operator} ComparisonOperator"))
}

/// A comparison with values of several types.
pub fn types_differ() -> Error {
    invalid("AttributeValues inside AttributeValueList must be of same type")
}

/// A comparison with values of a type it does not take.
pub fn operator_type(operator: &str, kind: AttributeType) -> Error {
    invalid(format!("ComparisonOperator {operator} is not valid for {kind} AttributeValue type"))
}

/// BETWEEN with bounds the wrong way round.
pub fn bounds_reversed() -> Error {
    Error::validation(
        "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
    )
}

/// PUT or ADD without a value.
pub fn update_without_value() -> Error {
    invalid("Only DELETE action is allowed when no attribute value is specified")
}

/// ADD of a type that cannot be added.
pub fn add_type(kind: AttributeType) -> Error {
    invalid(format!("ADD action is not supported for the type {kind}"))
}

/// DELETE with a value that is no set.
pub fn delete_type(kind: AttributeType) -> Error {
    invalid(format!("DELETE action with value is not supported for the type {kind}"))
}

/// ADD or DELETE with a value that does not go with the one that is there.
pub fn update_type() -> Error {
    Error::validation("Type mismatch for attribute to update")
}

/// An action that is none.
pub fn unknown_action() -> Error {
    Error::validation("1 validation error detected: Member must satisfy enum value set: [ADD, DELETE, PUT]' for Action")
}

/// A key condition with a comparison that keys do not have.
pub fn key_operator(operator: &str) -> Error {
    Error::validation(format!("Unsupported KeyConditions ComparisonOperator: {operator}"))
}

fn invalid(reason: impl std::fmt::Display) -> Error {
    Error::validation(format!("One or more parameter values were invalid: {reason}"))
}
