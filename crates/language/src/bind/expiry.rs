//! Items whose time is over. The store deletes them when it gets to it; until then conditions take them as if they were not there.
//!
//! A condition that holds of no item holds of such an item, one that does not hold of no item does not:
//!
//! ```text
//! create   attribute_not_exists(pk)          OR  expires < now
//! update   attribute_exists(pk)              AND (attribute_not_exists(expires) OR expires >= now)
//! ```
//!
//! An item lives through the second that it names, for conditions as for reads.

use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::{AttributeValue, Attributes};

use crate::schema::{Entity, FieldId, Table};

/// When the items of an entity are over.
#[derive(Clone, Copy)]
pub(super) struct Expiry<'a> {
    attribute: &'a str,
    /// The field that says it.
    pub(super) field: FieldId,
    now_secs: i64,
}

impl<'a> Expiry<'a> {
    /// Of an entity whose items expire.
    pub(super) fn of(table: &'a Table, entity: &Entity, now_millis: i64) -> Option<Self> {
        let (attribute, _) = table.ttl.as_ref()?;
        let field = entity.field_named(attribute)?;
        Some(Self { attribute, field, now_secs: now_millis.div_euclid(1000) })
    }

    /// The item has no end, or its end is not over; or there is no item.
    pub(super) fn lives(&self) -> Condition {
        let has_no_end = Condition::AttributeNotExists(Path::attribute(self.attribute));
        Condition::Or(vec![has_no_end, self.end(Comparator::GreaterOrEqual)])
    }

    /// The item's time is over.
    pub(super) fn is_over(&self) -> Condition {
        self.end(Comparator::Less)
    }

    fn end(&self, comparator: Comparator) -> Condition {
        let now = AttributeValue::from(self.now_secs);
        Condition::Compare {
            left: Operand::Path(Path::attribute(self.attribute)),
            comparator,
            right: Operand::Value(now.into()),
        }
    }

    /// The condition, with an item whose time is over taken as none.
    pub(super) fn as_absent(&self, test: Condition) -> Condition {
        if test.holds(None) {
            let mut tests = match test {
                Condition::Or(tests) => tests,
                test => vec![test],
            };
            tests.push(self.is_over());
            return Condition::Or(tests);
        }
        let mut tests = match test {
            Condition::And(tests) => tests,
            test => vec![test],
        };
        tests.push(self.lives());
        Condition::And(tests)
    }

    /// Whether the time of an item that was read is over.
    pub(super) fn ended(&self, item: &Attributes) -> bool {
        matches!(item.get(self.attribute), Some(AttributeValue::N(end)) if *end < self.now_secs.into())
    }
}
