//! Evaluates conditions over encoded items without allocating. Filters run for every item that a Query reads, so they
//! never build a tree (ADR 0002).
//!
//! Evaluation never fails. A comparison is false if a path does not exist or if the values are not comparable. Only
//! `<>` and `attribute_not_exists` hold for a missing value.

use std::cmp::Ordering;

use super::ast::{Comparator, Condition, Operand, Path, PathElement};
use crate::value::{Item, Number, ValueRef};

impl Condition {
    /// Returns whether the condition holds for the item; `None` stands for an item that does not exist.
    pub fn holds(&self, item: Option<&Item>) -> bool {
        match self {
            Self::And(parts) => parts.iter().all(|part| part.holds(item)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(item)),
            Self::Not(part) => !part.holds(item),
            Self::Compare { left, comparator, right } => comparator.holds(left.evaluate(item), right.evaluate(item)),
            Self::Between { operand, low, high } => {
                let operand = operand.evaluate(item);
                Comparator::GreaterOrEqual.holds(operand, low.evaluate(item))
                    && Comparator::LessOrEqual.holds(operand, high.evaluate(item))
            }
            Self::In { operand, candidates } => {
                let operand = operand.evaluate(item);
                candidates.iter().any(|candidate| Comparator::Equal.holds(operand, candidate.evaluate(item)))
            }
            Self::AttributeExists(path) => path.find(item).is_some(),
            Self::AttributeNotExists(path) => path.find(item).is_none(),
            Self::AttributeType(path, kind) => path.find(item).is_some_and(|value| value.kind() == *kind),
            Self::BeginsWith(whole, start) => test_both(whole, start, item, begins_with),
            Self::Contains(whole, part) => test_both(whole, part, item, contains),
        }
    }
}

impl Operand {
    fn evaluate<'a>(&'a self, item: Option<&'a Item>) -> Option<ValueRef<'a>> {
        match self {
            Self::Path(path) => path.find(item),
            Self::Value(value) => Some(value.view()),
            Self::Size(path) => size_of(path.find(item)?).map(ValueRef::N),
        }
    }
}

impl Path {
    /// Returns the value at the path in the item.
    pub fn resolve<'a>(&self, item: &'a Item) -> Option<ValueRef<'a>> {
        let mut value = ValueRef::M(item.as_map());
        for element in &self.elements {
            value = match (element, value) {
                (PathElement::Attribute(name), ValueRef::M(map)) => map.get(name)?,
                (PathElement::Index(index), ValueRef::L(list)) => list.get(*index)?,
                _ => return None,
            };
        }
        Some(value)
    }

    fn find<'a>(&self, item: Option<&'a Item>) -> Option<ValueRef<'a>> {
        item.and_then(|item| self.resolve(item))
    }
}

impl Comparator {
    /// Returns whether the comparison holds; `None` stands for a missing value.
    fn holds(self, left: Option<ValueRef<'_>>, right: Option<ValueRef<'_>>) -> bool {
        let (Some(left), Some(right)) = (left, right) else { return self == Self::NotEqual };
        match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Less => left.compare(&right).is_some_and(Ordering::is_lt),
            Self::LessOrEqual => left.compare(&right).is_some_and(Ordering::is_le),
            Self::Greater => left.compare(&right).is_some_and(Ordering::is_gt),
            Self::GreaterOrEqual => left.compare(&right).is_some_and(Ordering::is_ge),
        }
    }
}

/// Returns the result of the `size` function: UTF-16 code units of a string, bytes of a binary, elements of a set,
/// list or map; `None` for numbers, booleans and NULL.
pub(crate) fn size_of(value: ValueRef<'_>) -> Option<Number> {
    let size = match value {
        ValueRef::S(text) => text.encode_utf16().count(),
        ValueRef::B(bytes) => bytes.len(),
        ValueRef::M(map) => map.len(),
        ValueRef::L(list) => list.len(),
        ValueRef::Ss(set) | ValueRef::Ns(set) | ValueRef::Bs(set) => set.len(),
        ValueRef::N(_) | ValueRef::Bool(_) | ValueRef::Null => return None,
    };
    i64::try_from(size).ok().map(Number::from)
}

fn test_both(
    left: &Operand,
    right: &Operand,
    item: Option<&Item>,
    test: impl Fn(ValueRef<'_>, ValueRef<'_>) -> bool,
) -> bool {
    match (left.evaluate(item), right.evaluate(item)) {
        (Some(left), Some(right)) => test(left, right),
        _ => false,
    }
}

fn begins_with(whole: ValueRef<'_>, start: ValueRef<'_>) -> bool {
    match (whole, start) {
        (ValueRef::S(whole), ValueRef::S(start)) => whole.starts_with(start),
        (ValueRef::B(whole), ValueRef::B(start)) => whole.starts_with(start),
        _ => false,
    }
}

fn contains(whole: ValueRef<'_>, part: ValueRef<'_>) -> bool {
    match (whole, part) {
        (ValueRef::S(whole), ValueRef::S(part)) => whole.contains(part),
        (ValueRef::B(whole), ValueRef::B(part)) => contains_bytes(whole, part),
        (ValueRef::L(list), part) => list.iter().any(|value| value == part),
        (ValueRef::Ss(set) | ValueRef::Ns(set) | ValueRef::Bs(set), part) => set.contains(&part),
        _ => false,
    }
}

fn contains_bytes(whole: &[u8], part: &[u8]) -> bool {
    part.is_empty() || whole.windows(part.len()).any(|window| window == part)
}
