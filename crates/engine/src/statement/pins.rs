//! Partition keys that a WHERE clause fixes.
//!
//! The clause is split at its ANDs. If one part compares the partition key for equality with a value or a list of
//! values, each value is an [`Alternative`], and the other parts remain to be tested:
//!
//! ```text
//! pk IN ['a', 'b'] AND sk > 1 AND x = 2    gives    pk = 'a'  rest: sk > 1, x = 2
//!                                                    pk = 'b'  rest: sk > 1, x = 2
//! pk = 'a' AND sk = 1 OR pk = 'b'          gives    pk = 'a'  rest: sk = 1
//!                                                    pk = 'b'
//! pk = 'a' OR x = 2                        gives nothing: all partitions must be read
//! ```

use keyform_core::Value;
use keyform_core::expression::{Comparator, Condition, KeyTest, Operand};

/// Partition that a clause fixes.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative<'c> {
    /// Value of the partition key.
    pub partition: &'c Value,
    /// Conditions left to test in that partition; all must hold.
    pub rest: Vec<&'c Condition>,
}

/// Partitions that a clause fixes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pinned<'c> {
    /// One entry for each partition, in the order of the clause. A partition may occur twice.
    pub alternatives: Vec<Alternative<'c>>,
    /// True if they come from an OR of complete key conditions rather than from one part of the clause.
    pub from_or: bool,
}

/// Returns the partitions that a clause fixes, or `None` if it does not fix them.
pub fn pinned<'c>(condition: &'c Condition, partition: &str) -> Option<Pinned<'c>> {
    if let Some(alternatives) = from_parts(condition, partition) {
        return Some(Pinned { alternatives, from_or: false });
    }
    let Condition::Or(sides) = condition else { return None };
    let mut alternatives = Vec::new();
    for side in sides {
        alternatives.extend(from_parts(side, partition)?);
    }
    Some(Pinned { alternatives, from_or: true })
}

fn from_parts<'c>(condition: &'c Condition, partition: &str) -> Option<Vec<Alternative<'c>>> {
    let parts = parts(condition);
    let single = parts.iter().find(|part| equality(part, partition).is_some());
    let pin = *single.or_else(|| parts.iter().find(|part| listed(part, partition).is_some()))?;
    let rest: Vec<&Condition> = parts.into_iter().filter(|part| *part != pin).collect();
    let values = listed(pin, partition)?;
    Some(values.into_iter().map(|value| Alternative { partition: value, rest: rest.clone() }).collect())
}

/// Splits a condition into the parts that must all hold.
pub fn parts(condition: &Condition) -> Vec<&Condition> {
    if let Condition::And(sides) = condition { sides.iter().flat_map(parts).collect() } else { vec![condition] }
}

/// Returns the value that a condition requires the attribute to equal.
pub fn equality<'c>(condition: &'c Condition, attribute: &str) -> Option<&'c Value> {
    match condition {
        Condition::Compare {
            left: Operand::Path(path),
            comparator: Comparator::Equal,
            right: Operand::Value(value),
        } if path.as_attribute() == Some(attribute) => Some(value),
        _ => None,
    }
}

/// Returns the values of a condition that requires the attribute to equal one of them.
fn listed<'c>(condition: &'c Condition, attribute: &str) -> Option<Vec<&'c Value>> {
    match condition {
        Condition::In { operand: Operand::Path(path), candidates } if path.as_attribute() == Some(attribute) => {
            let constant = |candidate: &'c Operand| match candidate {
                Operand::Value(value) => Some(value),
                Operand::Path(_) | Operand::Size(_) => None,
            };
            candidates.iter().map(constant).collect()
        }
        Condition::Or(sides) => {
            let lists = sides.iter().map(|side| listed(side, attribute)).collect::<Option<Vec<_>>>()?;
            Some(lists.concat())
        }
        other => equality(other, attribute).map(|value| vec![value]),
    }
}

/// Returns the test of the sort key that a Query can evaluate as a key condition.
pub fn sort_test(condition: &Condition, attribute: &str) -> Option<KeyTest> {
    let is_sort = |operand: &Operand| matches!(operand, Operand::Path(path) if path.as_attribute() == Some(attribute));
    match condition {
        Condition::Compare { left, comparator, right: Operand::Value(value) }
            if is_sort(left) && *comparator != Comparator::NotEqual =>
        {
            Some(KeyTest::Compare(*comparator, value.clone()))
        }
        Condition::Between { operand, low: Operand::Value(low), high: Operand::Value(high) } if is_sort(operand) => {
            Some(KeyTest::Between(low.clone(), high.clone()))
        }
        Condition::BeginsWith(operand, Operand::Value(prefix)) if is_sort(operand) => {
            Some(KeyTest::BeginsWith(prefix.clone()))
        }
        Condition::In { candidates, .. } => match listed(condition, attribute)?.as_slice() {
            [value] if candidates.len() == 1 => Some(KeyTest::Compare(Comparator::Equal, (*value).clone())),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether a condition refers to the attribute.
pub fn mentions(condition: &Condition, attribute: &str) -> bool {
    condition.roots().contains(&attribute)
}
