//! Checks combinations of members: expressions exclude legacy parameters, and placeholders require expressions.

use keyform_core::Error;
use keyform_core::error::request;

use super::parameters::Parameters;

/// Checks a single-item request.
pub(super) fn check(parameters: &Parameters) -> Result<(), Error> {
    check_with(parameters, &[])
}

/// Checks a request. `value_expressions` are the expressions that DynamoDB lists as missing if the request has
/// ExpressionAttributeValues but no expression that could use them.
pub(super) fn check_with(parameters: &Parameters, value_expressions: &[&str]) -> Result<(), Error> {
    let (legacy, expressions) = (legacy_given(parameters), expressions_given(parameters));
    if !legacy.is_empty() && !expressions.is_empty() {
        return Err(request::mixed_parameters(&legacy, &expressions));
    }
    if parameters.names.is_some() && expressions.is_empty() {
        return Err(request::names_without_expression());
    }
    let uses_values = expressions.iter().any(|name| *name != "ProjectionExpression");
    if parameters.values.is_some() && !uses_values {
        return Err(request::values_without_expression(value_expressions));
    }
    Ok(())
}

fn legacy_given(parameters: &Parameters) -> Vec<&'static str> {
    let legacy = &parameters.legacy;
    given([
        ("AttributesToGet", legacy.attributes_to_get.is_some()),
        ("ScanFilter", legacy.scan_filter.is_some()),
        ("QueryFilter", legacy.query_filter.is_some()),
        ("AttributeUpdates", legacy.attribute_updates.is_some()),
        ("ConditionalOperator", legacy.conditional_operator.is_some()),
        // KeyConditions only conflict with the expression that replaces them; DynamoDB accepts them with all others.
        ("KeyConditions", legacy.key_conditions.is_some() && parameters.key_condition.is_some()),
        ("Expected", legacy.expected.is_some()),
    ])
}

fn expressions_given(parameters: &Parameters) -> Vec<&'static str> {
    given([
        ("UpdateExpression", parameters.update.is_some()),
        ("ProjectionExpression", parameters.projection.is_some()),
        ("FilterExpression", parameters.filter.is_some()),
        ("ConditionExpression", parameters.condition.is_some()),
        ("KeyConditionExpression", parameters.key_condition.is_some()),
    ])
}

fn given<const N: usize>(members: [(&'static str, bool); N]) -> Vec<&'static str> {
    members.into_iter().filter_map(|(name, given)| given.then_some(name)).collect()
}
