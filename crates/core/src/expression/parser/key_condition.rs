//! Key conditions: parsed with the grammar of conditions, then restricted to comparisons of key
//! attributes joined by AND.

use super::super::ast::{Comparator, KeyCondition, KeyPredicate, KeyTest, PathElement};
use super::super::substitution::Substitutions;
use super::condition::{self, WrittenCondition};
use super::resolve::Resolver;
use super::written::{WrittenCall, WrittenOperand};
use crate::error::Error;
use crate::error::expression::{ExpressionKind, Flaw, invalid};
use crate::value::Value;

/// Parses a key condition.
///
/// # Errors
/// Returns an error if the text is not a valid key condition or uses an undefined placeholder.
pub fn parse_key_condition(text: &str, substitutions: &mut Substitutions) -> Result<KeyCondition, Error> {
    let kind = ExpressionKind::KeyCondition;
    let written = condition::read(text, kind)?;
    let mut resolver = Resolver::new(substitutions);
    let found = condition::resolve(&written, &mut resolver);
    std::mem::take(&mut resolver.flaws).check(kind)?;
    if found.is_none() {
        return Err(condition::unreported(kind));
    }
    let mut predicates = Vec::with_capacity(2);
    collect(&written.condition, &mut resolver, &mut predicates).map_err(|flaw| invalid(kind, &flaw))?;
    Ok(KeyCondition { predicates })
}

fn collect(
    written: &WrittenCondition<'_>,
    resolver: &mut Resolver<'_>,
    predicates: &mut Vec<KeyPredicate>,
) -> Result<(), Flaw> {
    if let WrittenCondition::And(parts) = written {
        return parts.iter().try_for_each(|part| collect(part, resolver, predicates));
    }
    let predicate = predicate(written, resolver)?;
    if predicates.iter().any(|earlier| earlier.attribute == predicate.attribute) {
        return Err(Flaw::RepeatedKey);
    }
    predicates.push(predicate);
    Ok(())
}

fn predicate(written: &WrittenCondition<'_>, resolver: &mut Resolver<'_>) -> Result<KeyPredicate, Flaw> {
    match written {
        WrittenCondition::Compare(Comparator::NotEqual, _) => Err(Flaw::KeyOperator("<>".to_owned())),
        WrittenCondition::Compare(comparator, operands) => compare(*comparator, operands, resolver),
        WrittenCondition::Between(operands) => {
            let (attribute, values) = key_first("BETWEEN", operands, resolver)?;
            let [low, high] = values.try_into().map_err(|_| Flaw::NoKeyAttribute)?;
            Ok(KeyPredicate { attribute, test: KeyTest::Between(low, high) })
        }
        WrittenCondition::Call(call) => function(call, resolver),
        WrittenCondition::In(..) => Err(Flaw::KeyOperator("IN".to_owned())),
        WrittenCondition::Not(_) => Err(Flaw::KeyOperator("NOT".to_owned())),
        WrittenCondition::Or(_) | WrittenCondition::And(_) => Err(Flaw::KeyOperator("OR".to_owned())),
    }
}

fn function(call: &WrittenCall<'_>, resolver: &mut Resolver<'_>) -> Result<KeyPredicate, Flaw> {
    if call.name != "begins_with" {
        return Err(Flaw::KeyOperator(call.name.to_owned()));
    }
    let (attribute, values) = key_first(call.name, &call.operands, resolver)?;
    let [start] = values.try_into().map_err(|_| Flaw::NoKeyAttribute)?;
    Ok(KeyPredicate { attribute, test: KeyTest::BeginsWith(start) })
}

/// Parses a comparison. The attribute may be on either side; if it is on the right, the operator is swapped.
fn compare(
    comparator: Comparator,
    operands: &[WrittenOperand<'_>; 2],
    resolver: &mut Resolver<'_>,
) -> Result<KeyPredicate, Flaw> {
    let comparator = match &operands[0] {
        WrittenOperand::Path(_) => comparator,
        _ => comparator.swapped(),
    };
    let (attribute, values) = split(operands, resolver)?;
    let [value] = values.try_into().map_err(|_| Flaw::NoKeyAttribute)?;
    Ok(KeyPredicate { attribute, test: KeyTest::Compare(comparator, value) })
}

fn key_first(
    operator: &str,
    operands: &[WrittenOperand<'_>],
    resolver: &mut Resolver<'_>,
) -> Result<(String, Vec<Value>), Flaw> {
    if !matches!(operands.first(), Some(WrittenOperand::Path(_))) {
        return Err(Flaw::KeyNotFirst(operator.to_owned()));
    }
    split(operands, resolver)
}

/// Splits the operands into the single attribute and the constants.
fn split(operands: &[WrittenOperand<'_>], resolver: &mut Resolver<'_>) -> Result<(String, Vec<Value>), Flaw> {
    let mut attribute = None;
    let mut values = Vec::with_capacity(2);
    for operand in operands {
        match operand {
            WrittenOperand::Path(_) if attribute.is_some() => return Err(Flaw::SeveralKeyAttributes),
            WrittenOperand::Path(path) => {
                let path = resolver.path(path).ok_or(Flaw::NoKeyAttribute)?;
                match <[PathElement; 1]>::try_from(path.elements) {
                    Ok([PathElement::Attribute(name)]) => attribute = Some(name),
                    _ => return Err(Flaw::NestedKey),
                }
            }
            WrittenOperand::Value(placeholder) => {
                values.push(resolver.value(placeholder).ok_or(Flaw::NoKeyAttribute)?);
            }
            WrittenOperand::Call(_) => return Err(Flaw::NestedOperation),
        }
    }
    attribute.map(|attribute| (attribute, values)).ok_or(Flaw::NoKeyAttribute)
}
