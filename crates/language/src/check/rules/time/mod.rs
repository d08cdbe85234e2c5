//! Time, streams and types: T01 to T09.

mod t01;
mod t02;
mod t03;
mod t04;
mod t05;
mod t06;
mod t07;
mod t08;
mod t09;

use crate::check::Rule;
use crate::schema::{Entity, Field, FieldId, Model};

/// The rules of this group.
pub(super) const RULES: &[&Rule] =
    &[&t01::RULE, &t02::RULE, &t03::RULE, &t04::RULE, &t05::RULE, &t06::RULE, &t07::RULE, &t08::RULE, &t09::RULE];

/// The field of an entity by which its items expire.
fn ttl_field<'a>(model: &'a Model, entity: &'a Entity) -> Option<(FieldId, &'a Field)> {
    let (name, _) = model.table(entity.table?).ttl.as_ref()?;
    let id = entity.field_named(name)?;
    Some((id, entity.field(id)))
}
