//! Converts Expected, QueryFilter and ScanFilter to conditions.

use keyform_core::error::constraint::Violations;
use keyform_core::error::legacy;
use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::value::{AttributeType, name};
use keyform_core::{AttributeValue, Error, Value};

use super::read::{LegacyCondition, LegacyParameters};
use crate::value::Checked;

/// Number of operands of an operator.
enum Arity {
    Exactly(usize),
    AtLeastOne,
}

/// Checks that each condition of a filter has a comparison operator.
pub(crate) fn check_operators(
    violations: &mut Violations,
    member: &str,
    conditions: Option<&[(String, LegacyCondition)]>,
) {
    for (attribute, condition) in conditions.unwrap_or_default() {
        if condition.operator.is_none() {
            violations.null(&format!("{member}.{attribute}.member.comparisonOperator"));
        }
    }
}

/// Checks that a ConditionalOperator has at least two conditions to join.
pub(crate) fn check_conditional_operator(parameters: &LegacyParameters) -> Result<(), Error> {
    if parameters.conditional_operator.is_none() {
        return Ok(());
    }
    let count = |conditions: &Option<Vec<_>>| conditions.as_ref().map_or(0, Vec::len);
    let lists = [&parameters.expected, &parameters.query_filter, &parameters.scan_filter];
    match lists.into_iter().map(count).sum() {
        0 => Err(legacy::operator_without_conditions()),
        1 => Err(legacy::operator_with_one_condition()),
        _ => Ok(()),
    }
}

/// Converts Expected to a condition.
pub(crate) fn expected(parameters: &mut LegacyParameters) -> Result<Option<Condition>, Error> {
    check_conditional_operator(parameters)?;
    let conditions = parameters.expected.take().unwrap_or_default();
    let conditions = conditions.into_iter().map(|(attribute, condition)| expectation(attribute, condition));
    Ok(connect(conditions.collect::<Result<_, _>>()?, parameters))
}

/// Converts QueryFilter to a condition.
pub(crate) fn query_filter(parameters: &mut LegacyParameters) -> Result<Option<Condition>, Error> {
    let conditions = parameters.query_filter.take();
    filter(conditions, parameters)
}

/// Converts ScanFilter to a condition.
pub(crate) fn scan_filter(parameters: &mut LegacyParameters) -> Result<Option<Condition>, Error> {
    let conditions = parameters.scan_filter.take();
    filter(conditions, parameters)
}

/// Returns the operands of a comparison after checking their number and types.
pub(super) fn operands(
    operator: &str,
    values: Option<Vec<Checked<AttributeValue>>>,
) -> Result<Vec<AttributeValue>, Error> {
    let values = values.unwrap_or_default().into_iter().collect::<Result<Vec<_>, _>>()?;
    check_operands(operator, &values)?;
    Ok(values)
}

fn filter(
    conditions: Option<Vec<(String, LegacyCondition)>>,
    parameters: &LegacyParameters,
) -> Result<Option<Condition>, Error> {
    let conditions = conditions.unwrap_or_default().into_iter().map(|(attribute, condition)| {
        name::check(&attribute)?;
        let operator = condition.operator.unwrap_or_default();
        let operands = operands(&operator, condition.operands)?;
        comparison(attribute, &operator, operands)
    });
    Ok(connect(conditions.collect::<Result<_, _>>()?, parameters))
}

fn connect(mut conditions: Vec<Condition>, parameters: &LegacyParameters) -> Option<Condition> {
    if conditions.len() < 2 {
        return conditions.pop();
    }
    Some(match parameters.conditional_operator.as_deref() {
        Some("OR") => Condition::Or(conditions),
        _ => Condition::And(conditions),
    })
}

/// Converts one element of Expected: a comparison, or a value that must or must not exist.
fn expectation(attribute: String, condition: LegacyCondition) -> Result<Condition, Error> {
    name::check(&attribute)?;
    let LegacyCondition { operator, operands, value, exists } = condition;
    if operands.is_some() && value.is_some() {
        return Err(legacy::value_and_list(&attribute));
    }
    let Some(operator) = operator else {
        return plain_expectation(attribute, operands.is_some(), value, exists);
    };
    if exists.is_some() {
        return Err(legacy::exists_and_operator(&attribute));
    }
    let values: Vec<Checked<AttributeValue>> = operands.unwrap_or_else(|| value.into_iter().collect());
    let values = values.into_iter().collect::<Result<Vec<_>, _>>()?;
    arity(&operator)?;
    if values.is_empty() && !matches!(operator.as_str(), "NULL" | "NOT_NULL") {
        return Err(legacy::operator_without_value(&operator, &attribute));
    }
    check_operands(&operator, &values)?;
    comparison(attribute, &operator, values)
}

fn plain_expectation(
    attribute: String,
    has_list: bool,
    value: Option<Checked<AttributeValue>>,
    exists: Option<bool>,
) -> Result<Condition, Error> {
    if has_list {
        return Err(legacy::list_without_operator(&attribute));
    }
    match (exists.unwrap_or(true), value) {
        (true, None) => Err(legacy::value_missing(exists, &attribute)),
        (false, Some(_)) => Err(legacy::value_not_wanted(&attribute)),
        (true, Some(value)) => comparison(attribute, "EQ", vec![value?]),
        (false, None) => Ok(Condition::AttributeNotExists(Path::attribute(attribute))),
    }
}

fn arity(operator: &str) -> Result<Arity, Error> {
    match operator {
        "EQ" | "NE" | "LE" | "LT" | "GE" | "GT" | "CONTAINS" | "NOT_CONTAINS" | "BEGINS_WITH" => Ok(Arity::Exactly(1)),
        "NULL" | "NOT_NULL" => Ok(Arity::Exactly(0)),
        "BETWEEN" => Ok(Arity::Exactly(2)),
        "IN" => Ok(Arity::AtLeastOne),
        _ => Err(legacy::unknown_operator()),
    }
}

fn check_operands(operator: &str, values: &[AttributeValue]) -> Result<(), Error> {
    let fits = match arity(operator)? {
        Arity::Exactly(count) => values.len() == count,
        Arity::AtLeastOne => !values.is_empty(),
    };
    if !fits {
        return Err(legacy::argument_count(operator));
    }
    if values.windows(2).any(|pair| pair[0].kind() != pair[1].kind()) {
        return Err(legacy::types_differ());
    }
    if let Some(first) = values.first() {
        check_type(operator, first.kind())?;
    }
    match values {
        [low, high] if operator == "BETWEEN" && is_reversed(low, high) => Err(legacy::bounds_reversed()),
        _ => Ok(()),
    }
}

fn is_reversed(low: &AttributeValue, high: &AttributeValue) -> bool {
    let (low, high) = (Value::from(low), Value::from(high));
    low.view().compare(&high.view()).is_some_and(|order| order.is_gt())
}

/// Checks that the operator accepts values of this type.
fn check_type(operator: &str, kind: AttributeType) -> Result<(), Error> {
    use AttributeType::{B, N, S};
    let fits = match operator {
        "LE" | "LT" | "GE" | "GT" | "IN" | "BETWEEN" | "CONTAINS" | "NOT_CONTAINS" => matches!(kind, S | N | B),
        "BEGINS_WITH" => matches!(kind, S | B),
        _ => true,
    };
    if fits { Ok(()) } else { Err(legacy::operator_type(operator, kind)) }
}

/// Builds the condition of an operator with checked operands.
fn comparison(attribute: String, operator: &str, values: Vec<AttributeValue>) -> Result<Condition, Error> {
    let path = Path::attribute(attribute);
    let operand = Operand::Path(path.clone());
    let mut values = values.into_iter().map(|value| Operand::Value(Value::from(value)));
    let mut next = || values.next().ok_or_else(|| legacy::argument_count(operator));
    Ok(match operator {
        "NULL" => Condition::AttributeNotExists(path),
        "NOT_NULL" => Condition::AttributeExists(path),
        "BEGINS_WITH" => Condition::BeginsWith(operand, next()?),
        "CONTAINS" => Condition::Contains(operand, next()?),
        // Unlike NE, NOT_CONTAINS does not hold for a missing attribute.
        "NOT_CONTAINS" => Condition::And(vec![
            Condition::AttributeExists(path),
            Condition::Not(Box::new(Condition::Contains(operand, next()?))),
        ]),
        "BETWEEN" => Condition::Between { operand, low: next()?, high: next()? },
        "IN" => Condition::In { operand, candidates: values.collect() },
        _ => Condition::Compare {
            left: operand,
            comparator: comparator(operator).ok_or_else(legacy::unknown_operator)?,
            right: next()?,
        },
    })
}

/// Returns the comparison with this legacy name; `None` for other operators.
pub(super) fn comparator(operator: &str) -> Option<Comparator> {
    Some(match operator {
        "EQ" => Comparator::Equal,
        "NE" => Comparator::NotEqual,
        "LE" => Comparator::LessOrEqual,
        "LT" => Comparator::Less,
        "GE" => Comparator::GreaterOrEqual,
        "GT" => Comparator::Greater,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyform_core::{Attributes, Item};

    #[test]
    fn not_contains_does_not_hold_for_a_missing_attribute() {
        let holds = |attribute: &str, operator: &str| {
            let condition =
                comparison(attribute.to_owned(), operator, vec!["x".into()]).expect("the operator is known");
            condition.holds(Some(&Item::from(&Attributes::from([("a".to_owned(), "bc".into())]))))
        };
        assert!(holds("a", "NOT_CONTAINS"));
        assert!(!holds("missing", "NOT_CONTAINS") && !holds("missing", "CONTAINS"));
        assert!(holds("missing", "NE"));
    }
}
