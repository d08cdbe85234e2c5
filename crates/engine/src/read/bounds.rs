//! Conversion of a key condition to a range of store keys: equality on the whole partition key, then on sort key
//! attributes from the left, then at most one range.

use keyform_core::Error;
use keyform_core::ValueRef;
use keyform_core::error::read as texts;
use keyform_core::expression::{Comparator, KeyCondition, KeyPredicate, KeyTest};
use keyform_core::value::AttributeType;

use super::source::Source;
use crate::catalog::KeyAttribute;
use crate::key_space;

/// Range of store keys, from `lower` (inclusive) to `upper` (exclusive; unbounded if `None`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// First key in the range.
    pub lower: Vec<u8>,
    /// First key after the range.
    pub upper: Option<Vec<u8>>,
}

impl KeyRange {
    /// Returns the range of all keys with the prefix.
    pub fn prefix(prefix: Vec<u8>) -> Self {
        let upper = key_space::after_prefix(&prefix);
        Self { lower: prefix, upper }
    }

    /// Returns whether the key lies in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.lower.as_slice() && self.upper.as_deref().is_none_or(|upper| key < upper)
    }
}

/// Returns the range that a key condition selects.
///
/// # Errors
/// When the condition does not match the source's key.
pub fn of_condition(source: &Source, condition: &KeyCondition) -> Result<KeyRange, Error> {
    check_attributes(source, condition)?;
    let mut prefix = of_partition(source, condition)?.lower;
    let mut sort = source.key().sort.iter();
    for attribute in sort.by_ref() {
        match find(condition, attribute).map(|predicate| &predicate.test) {
            Some(KeyTest::Compare(Comparator::Equal, value)) => key_space::write_key_value(&mut prefix, value.view()),
            Some(test) => return last_range(condition, sort, &prefix, test),
            None => return nothing_more(condition, attribute, sort, prefix),
        }
    }
    Ok(KeyRange::prefix(prefix))
}

/// Returns the range of the partition that a key condition selects.
///
/// # Errors
/// When a partition key attribute is not compared for equality.
pub fn of_partition(source: &Source, condition: &KeyCondition) -> Result<KeyRange, Error> {
    let mut partition = Vec::with_capacity(48);
    for attribute in &source.key().partition {
        let predicate = find(condition, attribute).ok_or_else(|| texts::missing_key_condition(&attribute.name))?;
        let KeyTest::Compare(Comparator::Equal, value) = &predicate.test else {
            return Err(texts::key_condition_not_supported());
        };
        key_space::write_key_value(&mut partition, value.view());
    }
    Ok(KeyRange::prefix(key_space::partition_prefix(source.table.id, source.id(), &partition)))
}

/// Returns the range of the last condition. Rejects conditions on attributes after it.
fn last_range<'a>(
    condition: &KeyCondition,
    mut rest: impl Iterator<Item = &'a KeyAttribute>,
    prefix: &[u8],
    test: &KeyTest,
) -> Result<KeyRange, Error> {
    if rest.any(|attribute| find(condition, attribute).is_some()) {
        return Err(texts::key_condition_not_supported());
    }
    Ok(range(prefix, test))
}

/// Returns the range of the prefix. Rejects conditions on attributes after the first one without a condition.
fn nothing_more<'a>(
    condition: &KeyCondition,
    missing: &KeyAttribute,
    mut rest: impl Iterator<Item = &'a KeyAttribute>,
    prefix: Vec<u8>,
) -> Result<KeyRange, Error> {
    if rest.any(|attribute| find(condition, attribute).is_some()) {
        return Err(texts::missing_key_condition(&missing.name));
    }
    Ok(KeyRange::prefix(prefix))
}

fn range(prefix: &[u8], test: &KeyTest) -> KeyRange {
    let whole = KeyRange::prefix(prefix.to_vec());
    let at = |value: ValueRef<'_>| {
        let mut key = prefix.to_vec();
        key_space::write_key_value(&mut key, value);
        key
    };
    let after = |value: ValueRef<'_>| key_space::after_prefix(&at(value));
    match test {
        KeyTest::Compare(Comparator::Less, value) => KeyRange { upper: Some(at(value.view())), ..whole },
        KeyTest::Compare(Comparator::LessOrEqual, value) => KeyRange { upper: after(value.view()), ..whole },
        KeyTest::Compare(Comparator::Greater, value) => {
            KeyRange { lower: after(value.view()).unwrap_or_else(|| prefix.to_vec()), ..whole }
        }
        KeyTest::Compare(Comparator::GreaterOrEqual, value) => KeyRange { lower: at(value.view()), ..whole },
        KeyTest::Compare(Comparator::Equal | Comparator::NotEqual, value) => KeyRange::prefix(at(value.view())),
        KeyTest::Between(low, high) => KeyRange { lower: at(low.view()), upper: after(high.view()) },
        KeyTest::BeginsWith(value) => {
            let mut key = prefix.to_vec();
            key_space::write_key_prefix(&mut key, value.view());
            KeyRange::prefix(key)
        }
    }
}

fn find<'c>(condition: &'c KeyCondition, attribute: &KeyAttribute) -> Option<&'c KeyPredicate> {
    condition.predicates.iter().find(|predicate| predicate.attribute == attribute.name)
}

/// Checks that every predicate refers to a key attribute and has values of its type.
fn check_attributes(source: &Source, condition: &KeyCondition) -> Result<(), Error> {
    for attribute in &source.key().partition {
        if find(condition, attribute).is_none() {
            return Err(texts::missing_key_condition(&attribute.name));
        }
    }
    let keys = source.key().attributes().count();
    if condition.predicates.len() > keys {
        return Err(texts::too_many_key_conditions(condition.predicates.len(), keys));
    }
    for predicate in &condition.predicates {
        let attribute = source.key().attributes().find(|attribute| attribute.name == predicate.attribute);
        let Some(attribute) = attribute else { return Err(missing_or_unsupported(source, condition)) };
        check_types(attribute, &predicate.test)?;
    }
    Ok(())
}

/// Error for a predicate on a non-key attribute: DynamoDB reports a missing sort key condition, or an unsupported one.
fn missing_or_unsupported(source: &Source, condition: &KeyCondition) -> Error {
    match source.key().sort.iter().find(|attribute| find(condition, attribute).is_none()) {
        Some(attribute) => texts::missing_key_condition(&attribute.name),
        None => texts::key_condition_not_supported(),
    }
}

fn check_types(attribute: &KeyAttribute, test: &KeyTest) -> Result<(), Error> {
    let values = match test {
        KeyTest::Compare(_, value) | KeyTest::BeginsWith(value) => [Some(value), None],
        KeyTest::Between(low, high) => [Some(low), Some(high)],
    };
    for value in values.into_iter().flatten() {
        if value.kind() != AttributeType::from(attribute.kind) {
            return Err(texts::condition_type_mismatch());
        }
        if is_empty(value.view()) && !matches!(test, KeyTest::BeginsWith(_)) {
            return Err(keyform_core::error::item::key_is_empty(&attribute.name, value.kind()));
        }
    }
    Ok(())
}

fn is_empty(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::S(text) => text.is_empty(),
        ValueRef::B(bytes) => bytes.is_empty(),
        _ => false,
    }
}
