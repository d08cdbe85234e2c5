//! Members with a fixed set of names: checks them and converts them to types.

use std::fmt;

use keyform_core::capacity::ReturnConsumedCapacity;
use keyform_core::error::constraint::Violations;
use keyform_core::operation::{ReturnItemCollectionMetrics, ReturnValues, Select};

use super::parameters::Parameters;

const RETURN_VALUES: &[&str] = &["ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW", "NONE"];
/// Names of ReturnValues as DynamoDB's error message lists them; the misspelling is DynamoDB's.
const RETURN_VALUES_LISTED: &[&str] = &["ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATE_NEW", "NONE"];
const CONDITIONAL_OPERATORS: &[&str] = &["AND", "OR"];
/// Names of ConditionalOperator as DynamoDB's error message lists them; `ALL` instead of `AND` is DynamoDB's.
const CONDITIONAL_OPERATORS_LISTED: &[&str] = &["ALL", "OR"];
const SELECT: &[&str] = &["SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"];

/// Checks the enumerations of a single-item write, in DynamoDB's order.
pub(crate) fn check_write(violations: &mut Violations, parameters: &Parameters) {
    check_return_capacity(violations, parameters);
    if has_unknown_return_values(parameters) {
        violations.bare_enumeration(RETURN_VALUES_LISTED);
    }
    check_return_metrics(violations, parameters);
    check_return_on_failure(violations, parameters);
    check_written_operator(violations, parameters);
}

/// Checks the enumerations of an update. ReturnValues comes first, and only the first violation is reported.
pub(crate) fn check_update(violations: &mut Violations, parameters: &Parameters) {
    if has_unknown_return_values(parameters) {
        return violations.bare_enumeration(RETURN_VALUES_LISTED);
    }
    for check in [check_return_capacity, check_return_metrics, check_return_on_failure, check_written_operator] {
        let known = violations.count();
        check(violations, parameters);
        if violations.count() > known {
            return;
        }
    }
}

fn check_return_on_failure(violations: &mut Violations, parameters: &Parameters) {
    let on_failure = parameters.return_on_failure.as_deref();
    check(violations, on_failure, "returnValuesOnConditionCheckFailure", &["ALL_OLD", "NONE"]);
}

fn check_written_operator(violations: &mut Violations, parameters: &Parameters) {
    if has_unknown_conditional_operator(parameters) {
        violations.bare_enumeration(CONDITIONAL_OPERATORS_LISTED);
    }
}

fn has_unknown_conditional_operator(parameters: &Parameters) -> bool {
    parameters.legacy.conditional_operator.as_deref().is_some_and(|name| !CONDITIONAL_OPERATORS.contains(&name))
}

fn has_unknown_return_values(parameters: &Parameters) -> bool {
    parameters.return_values.as_deref().is_some_and(|name| !RETURN_VALUES.contains(&name))
}

/// Checks ConditionalOperator.
pub(crate) fn check_conditional_operator(violations: &mut Violations, parameters: &Parameters) {
    let operator = parameters.legacy.conditional_operator.as_deref();
    check(violations, operator, "conditionalOperator", CONDITIONAL_OPERATORS);
}

/// Checks ReturnConsumedCapacity.
pub(crate) fn check_return_capacity(violations: &mut Violations, parameters: &Parameters) {
    check(violations, parameters.return_capacity.as_deref(), "returnConsumedCapacity", &["INDEXES", "TOTAL", "NONE"]);
}

/// Checks ReturnItemCollectionMetrics.
pub(crate) fn check_return_metrics(violations: &mut Violations, parameters: &Parameters) {
    check(violations, parameters.return_metrics.as_deref(), "returnItemCollectionMetrics", &["SIZE", "NONE"]);
}

/// Checks Select.
pub(crate) fn check_select(violations: &mut Violations, parameters: &Parameters) {
    check(violations, parameters.select.as_deref(), "select", SELECT);
}

/// Checks that a member, if present, is one of the names. The member's own name is only formatted on a violation.
pub(crate) fn check(violations: &mut Violations, value: Option<&str>, member: impl fmt::Display, names: &[&str]) {
    if let Some(value) = value.filter(|value| !names.contains(value)) {
        violations.enumeration(value, &member.to_string(), names);
    }
}

/// Converts ReturnConsumedCapacity.
pub(crate) fn return_capacity(name: Option<&str>) -> ReturnConsumedCapacity {
    match name {
        Some("TOTAL") => ReturnConsumedCapacity::Total,
        Some("INDEXES") => ReturnConsumedCapacity::Indexes,
        _ => ReturnConsumedCapacity::None,
    }
}

/// Converts ReturnItemCollectionMetrics.
pub(crate) fn return_metrics(name: Option<&str>) -> ReturnItemCollectionMetrics {
    match name {
        Some("SIZE") => ReturnItemCollectionMetrics::Size,
        _ => ReturnItemCollectionMetrics::None,
    }
}

/// Converts ReturnValues.
pub(crate) fn return_values(name: Option<&str>) -> ReturnValues {
    match name {
        Some("ALL_OLD") => ReturnValues::AllOld,
        Some("UPDATED_OLD") => ReturnValues::UpdatedOld,
        Some("ALL_NEW") => ReturnValues::AllNew,
        Some("UPDATED_NEW") => ReturnValues::UpdatedNew,
        _ => ReturnValues::None,
    }
}

/// Converts ReturnValuesOnConditionCheckFailure: returns whether a failed condition returns the item.
pub(crate) fn return_item_on_failure(name: Option<&str>) -> bool {
    name == Some("ALL_OLD")
}

/// Converts Select.
pub(crate) fn select(name: Option<&str>) -> Option<Select> {
    Some(match name? {
        "ALL_ATTRIBUTES" => Select::AllAttributes,
        "ALL_PROJECTED_ATTRIBUTES" => Select::AllProjectedAttributes,
        "SPECIFIC_ATTRIBUTES" => Select::SpecificAttributes,
        _ => Select::Count,
    })
}
