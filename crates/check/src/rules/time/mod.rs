//! Rules T01 to T10: expiry, streams and types.

mod t01_ttl_not_seconds;
mod t02_deadline_not_ttl;
mod t03_child_outlives_parent;
mod t04_stream_view;
mod t05_shared_attribute_name;
mod t06_lossy_type;
mod t07_query_for_expired;
mod t08_null_for_absent;
mod t09_encrypted_in_condition;
mod t10_lifetime_contradicts_expiry;

use crate::check::Rule;
use keyform_language::schema::{Entity, Field, FieldId, Model};

/// In code order.
pub(super) const RULES: &[&Rule] = &[
    &t01_ttl_not_seconds::RULE,
    &t02_deadline_not_ttl::RULE,
    &t03_child_outlives_parent::RULE,
    &t04_stream_view::RULE,
    &t05_shared_attribute_name::RULE,
    &t06_lossy_type::RULE,
    &t07_query_for_expired::RULE,
    &t08_null_for_absent::RULE,
    &t09_encrypted_in_condition::RULE,
    &t10_lifetime_contradicts_expiry::RULE,
];

/// Returns the field of an entity that is its table's TTL attribute.
fn ttl_field<'a>(model: &'a Model, entity: &'a Entity) -> Option<(FieldId, &'a Field)> {
    let name = &model.table(entity.table?).ttl.as_ref()?.value;
    let id = entity.field_named(name)?;
    Some((id, entity.field(id)))
}
