//! Conditions over trees, evaluated as DynamoDB's documentation describes them.

use std::cmp::Ordering;

use keyform_core::expression::{Comparator, Condition, Operand, Path, PathElement};
use keyform_core::{AttributeValue, Attributes, Number};

/// Returns whether the condition holds for an item; a missing item counts as one without attributes.
pub fn holds(condition: &Condition, item: Option<&Attributes>) -> bool {
    let nothing = Attributes::new();
    decide(condition, item.unwrap_or(&nothing))
}

fn decide(condition: &Condition, item: &Attributes) -> bool {
    match condition {
        Condition::And(parts) => parts.iter().all(|part| decide(part, item)),
        Condition::Or(parts) => parts.iter().any(|part| decide(part, item)),
        Condition::Not(part) => !decide(part, item),
        Condition::Compare { left, comparator, right } => compare(value(left, item), *comparator, value(right, item)),
        Condition::Between { operand, low, high } => {
            compare(value(operand, item), Comparator::GreaterOrEqual, value(low, item))
                && compare(value(operand, item), Comparator::LessOrEqual, value(high, item))
        }
        Condition::In { operand, candidates } => {
            candidates.iter().any(|one| compare(value(operand, item), Comparator::Equal, value(one, item)))
        }
        Condition::AttributeExists(path) => at(item, path).is_some(),
        Condition::AttributeNotExists(path) => at(item, path).is_none(),
        Condition::AttributeType(path, kind) => at(item, path).is_some_and(|found| found.kind() == *kind),
        Condition::BeginsWith(whole, start) => match (value(whole, item), value(start, item)) {
            (Some(AttributeValue::S(whole)), Some(AttributeValue::S(start))) => whole.starts_with(&start),
            (Some(AttributeValue::B(whole)), Some(AttributeValue::B(start))) => whole.starts_with(&start),
            _ => false,
        },
        Condition::Contains(whole, part) => match (value(whole, item), value(part, item)) {
            (Some(whole), Some(part)) => contains(&whole, &part),
            _ => false,
        },
    }
}

fn contains(whole: &AttributeValue, part: &AttributeValue) -> bool {
    match (whole, part) {
        (AttributeValue::S(whole), AttributeValue::S(part)) => whole.contains(part.as_str()),
        (AttributeValue::B(whole), AttributeValue::B(part)) => {
            part.is_empty() || whole.windows(part.len()).any(|window| window == part.as_slice())
        }
        (AttributeValue::Ss(set), AttributeValue::S(part)) => set.contains(part),
        (AttributeValue::Ns(set), AttributeValue::N(part)) => set.contains(part),
        (AttributeValue::Bs(set), AttributeValue::B(part)) => set.contains(part),
        (AttributeValue::L(list), part) => list.contains(part),
        _ => false,
    }
}

fn compare(left: Option<AttributeValue>, comparator: Comparator, right: Option<AttributeValue>) -> bool {
    let order = left.as_ref().zip(right.as_ref()).and_then(|(left, right)| order(left, right));
    match comparator {
        Comparator::Equal => left.is_some() && left == right,
        Comparator::NotEqual => !(left.is_some() && left == right),
        Comparator::Less => order == Some(Ordering::Less),
        Comparator::LessOrEqual => order.is_some_and(Ordering::is_le),
        Comparator::Greater => order == Some(Ordering::Greater),
        Comparator::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
    }
}

/// Returns the order of two scalars, or `None` if their types differ or have no order.
pub fn order(left: &AttributeValue, right: &AttributeValue) -> Option<Ordering> {
    match (left, right) {
        (AttributeValue::S(left), AttributeValue::S(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
        (AttributeValue::N(left), AttributeValue::N(right)) => Some(left.cmp(right)),
        (AttributeValue::B(left), AttributeValue::B(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn value(operand: &Operand, item: &Attributes) -> Option<AttributeValue> {
    match operand {
        Operand::Path(path) => at(item, path).cloned(),
        Operand::Value(value) => Some(value.to_tree()),
        Operand::Size(path) => size(at(item, path)?).map(AttributeValue::N),
    }
}

fn size(value: &AttributeValue) -> Option<Number> {
    let size = match value {
        AttributeValue::S(text) => text.encode_utf16().count(),
        AttributeValue::B(bytes) => bytes.len(),
        AttributeValue::M(map) => map.len(),
        AttributeValue::L(list) => list.len(),
        AttributeValue::Ss(set) => set.len(),
        AttributeValue::Ns(set) => set.len(),
        AttributeValue::Bs(set) => set.len(),
        AttributeValue::N(_) | AttributeValue::Bool(_) | AttributeValue::Null => return None,
    };
    Some(Number::from(size as i64))
}

/// Returns the value at a path.
pub fn at<'a>(item: &'a Attributes, path: &Path) -> Option<&'a AttributeValue> {
    let mut found = item.get(path.root())?;
    for step in &path.elements[1..] {
        found = match (found, step) {
            (AttributeValue::M(map), PathElement::Attribute(name)) => map.get(name)?,
            (AttributeValue::L(list), PathElement::Index(place)) => list.get(*place)?,
            _ => return None,
        };
    }
    Some(found)
}
