//! Converts KeyConditions to a key condition.

use keyform_core::error::legacy;
use keyform_core::expression::{Comparator, KeyCondition, KeyPredicate, KeyTest};
use keyform_core::value::name;
use keyform_core::{AttributeValue, Error, Value};

use super::condition::{comparator, operands};
use super::read::{LegacyCondition, LegacyParameters};

/// Converts KeyConditions; returns `None` if the request has none.
pub(crate) fn key_conditions(parameters: &mut LegacyParameters) -> Result<Option<KeyCondition>, Error> {
    let Some(conditions) = parameters.key_conditions.take().filter(|conditions| !conditions.is_empty()) else {
        return Ok(None);
    };
    let predicates = conditions.into_iter().map(|(attribute, condition)| predicate(attribute, condition));
    Ok(Some(KeyCondition { predicates: predicates.collect::<Result<_, _>>()? }))
}

fn predicate(attribute: String, condition: LegacyCondition) -> Result<KeyPredicate, Error> {
    name::check(&attribute)?;
    let operator = condition.operator.unwrap_or_default();
    let operands = operands(&operator, condition.operands)?;
    let test = test(&operator, operands)?;
    Ok(KeyPredicate { attribute, test })
}

fn test(operator: &str, operands: Vec<AttributeValue>) -> Result<KeyTest, Error> {
    let mut values = operands.into_iter().map(Value::from);
    let mut next = || values.next().ok_or_else(|| legacy::argument_count(operator));
    Ok(match operator {
        "BEGINS_WITH" => KeyTest::BeginsWith(next()?),
        "BETWEEN" => KeyTest::Between(next()?, next()?),
        _ => match comparator(operator) {
            Some(comparator) if comparator != Comparator::NotEqual => KeyTest::Compare(comparator, next()?),
            _ => return Err(legacy::key_operator(operator)),
        },
    })
}
