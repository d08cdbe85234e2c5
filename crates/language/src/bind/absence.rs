//! Conditions on attributes that an item may lack.
//!
//! A field with a constant default has that value also in items that are older than the field. A test of such a field
//! therefore has two cases, and the second replaces the field by its default:
//!
//! ```text
//!   flag = false          →  attribute_not_exists(flag) or flag = false           the default is false
//!   flag = true           →  flag = true                                          the default does not hold
//!   uses < maxUses        →  uses < maxUses or (attribute_not_exists(uses) and 0 < maxUses)
//! ```
//!
//! An item that does not exist at all satisfies a test as it did before: it has no fields, not even default ones.

use keyform_core::AttributeValue;
use keyform_core::expression::{Comparator, Condition, Operand, Path, PathElement};
use keyform_core::value::AttributeType;

use super::condition::{Logic, and, not, or};

/// Item that a condition is about.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    /// Attribute that every item of the table has.
    pub(super) key: &'a str,
    /// True if the condition may meet no item: nothing else in the request requires that the item exists.
    pub(super) may_be_absent: bool,
}

impl Subject<'_> {
    /// Returns the condition that there is no item.
    pub(super) fn absent(self) -> Logic {
        Logic::Test(Condition::AttributeNotExists(Path::attribute(self.key)))
    }

    /// Returns the condition that there is an item, where that is not known.
    pub(super) fn exists(self) -> Logic {
        if self.may_be_absent { not(self.absent()) } else { Logic::Known(true) }
    }
}

/// Returns the condition that a path leads to no value. Other programs store NULL for an absent value.
pub(super) fn is_none(path: Path) -> Logic {
    let is_null = Condition::AttributeType(path.clone(), AttributeType::Null);
    or(Logic::Test(Condition::AttributeNotExists(path)), Logic::Test(is_null))
}

/// Returns the condition that a path leads to a value.
pub(super) fn is_some(path: Path) -> Logic {
    let is_null = Condition::AttributeType(path.clone(), AttributeType::Null);
    and([Logic::Test(Condition::AttributeExists(path)), not(Logic::Test(is_null))])
}

/// Extends a test to items that lack some of its attributes. `defaults` holds what these attributes stand for then.
pub(super) fn total(test: Condition, defaults: &[(&str, AttributeValue)], subject: Subject<'_>) -> Logic {
    let Some(((name, default), rest)) = defaults.split_first() else { return Logic::Test(test) };
    if !test.roots().contains(name) {
        return total(test, rest, subject);
    }
    let holds_without = matches!(&test, Condition::Compare { comparator: Comparator::NotEqual, .. });
    let replaced = match with_default(&test, name, default) {
        None => Logic::Known(holds_without),
        Some(replaced) if replaced.paths().is_empty() => Logic::Known(replaced.holds(None)),
        Some(replaced) => total(replaced, rest, subject),
    };
    let present = total(test, rest, subject);
    let lacks = Logic::Test(Condition::AttributeNotExists(Path::attribute(*name)));
    match replaced {
        Logic::Known(true) if holds_without => present,
        Logic::Known(true) => or(and([subject.exists(), lacks]), present),
        Logic::Known(false) if !holds_without => present,
        Logic::Known(false) => or(not(subject.exists()), and([not(lacks), present])),
        replaced @ Logic::Test(_) => {
            let present = if holds_without { and([not(lacks.clone()), present]) } else { present };
            or(and([subject.exists(), lacks, replaced]), present)
        }
    }
}

/// Replaces the paths below an attribute by the values that its default has there; `None` if it has none.
fn with_default(test: &Condition, name: &str, default: &AttributeValue) -> Option<Condition> {
    let of = |operand: &Operand| replaced(operand, name, default);
    Some(match test {
        Condition::Compare { left, comparator, right } => {
            Condition::Compare { left: of(left)?, comparator: *comparator, right: of(right)? }
        }
        Condition::Between { operand, low, high } => {
            Condition::Between { operand: of(operand)?, low: of(low)?, high: of(high)? }
        }
        Condition::In { operand, candidates } => {
            Condition::In { operand: of(operand)?, candidates: candidates.iter().map(of).collect::<Option<_>>()? }
        }
        Condition::BeginsWith(one, other) => Condition::BeginsWith(of(one)?, of(other)?),
        Condition::Contains(one, other) => Condition::Contains(of(one)?, of(other)?),
        other => other.clone(),
    })
}

fn replaced(operand: &Operand, name: &str, default: &AttributeValue) -> Option<Operand> {
    match operand {
        Operand::Path(path) if path.root() == name => value_at(default, path).map(|value| Operand::Value(value.into())),
        Operand::Size(path) if path.root() == name => {
            let size = size(&value_at(default, path)?)?;
            Some(Operand::Value(AttributeValue::from(size).into()))
        }
        other => Some(other.clone()),
    }
}

/// Returns the part of a default that a path leads to.
fn value_at(default: &AttributeValue, path: &Path) -> Option<AttributeValue> {
    let step = |value: &AttributeValue, element: &PathElement| match (value, element) {
        (AttributeValue::M(parts), PathElement::Attribute(name)) => parts.get(name).cloned(),
        (AttributeValue::L(parts), PathElement::Index(place)) => parts.get(*place).cloned(),
        _ => None,
    };
    path.elements.iter().skip(1).try_fold(default.clone(), |value, element| step(&value, element))
}

fn size(value: &AttributeValue) -> Option<i64> {
    let size = match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.len(),
        AttributeValue::L(parts) => parts.len(),
        AttributeValue::M(parts) => parts.len(),
        AttributeValue::Ss(parts) => parts.len(),
        AttributeValue::Ns(parts) => parts.len(),
        AttributeValue::Bs(parts) => parts.len(),
        AttributeValue::N(_) | AttributeValue::Bool(_) | AttributeValue::Null => return None,
    };
    i64::try_from(size).ok()
}
