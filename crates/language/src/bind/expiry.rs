//! Expired items. The store deletes them eventually; until then conditions treat them as absent (ADR 0017).
//!
//! A condition that holds for an absent item also holds for an expired one, and a condition that fails for an absent
//! item also fails for an expired one:
//!
//! ```text
//! create   attribute_not_exists(pk)          OR  expires < now
//! update   attribute_exists(pk)              AND (attribute_not_exists(expires) OR expires >= now)
//! ```
//!
//! An item expires after the second its attribute names, for conditions and reads alike.

use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::{AttributeValue, Attributes};

use crate::schema::{Entity, FieldId, Table};

/// Expiry test for items of one entity at the time of the call.
#[derive(Clone, Copy)]
pub(super) struct Expiry<'a> {
    attribute: &'a str,
    /// Field that holds the expiry time.
    pub(super) field: FieldId,
    now_secs: i64,
}

impl<'a> Expiry<'a> {
    /// Returns the expiry test of an entity, or `None` if its items do not expire.
    pub(super) fn of(table: &'a Table, entity: &Entity, now_millis: i64) -> Option<Self> {
        let attribute = &table.ttl.as_ref()?.value;
        let field = entity.field_named(attribute)?;
        Some(Self { attribute, field, now_secs: now_millis.div_euclid(1000) })
    }

    /// Returns the condition that the item is absent, has no expiry time, or has not expired.
    pub(super) fn lives(&self) -> Condition {
        let has_no_end = Condition::AttributeNotExists(Path::attribute(self.attribute));
        Condition::Or(vec![has_no_end, self.end(Comparator::GreaterOrEqual)])
    }

    /// Returns the condition that the item has expired.
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

    /// Rewrites a condition so that it treats an expired item as absent.
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

    /// Returns true if an item that was read has expired.
    pub(super) fn ended(&self, item: &Attributes) -> bool {
        matches!(item.get(self.attribute), Some(AttributeValue::N(end)) if *end < self.now_secs.into())
    }
}
