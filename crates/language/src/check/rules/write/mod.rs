//! Write patterns: W01 to W19.

mod w01;
mod w02;
mod w03;
mod w04;
mod w05;
mod w06;
mod w07;
mod w08;
mod w09;
mod w10;
mod w11;
mod w12;
mod w13;
mod w14;
mod w15;
mod w16;
mod w17;
mod w18;
mod w19;

use crate::check::{Context, Rule};
use crate::schema::{Action, Entity, FieldId, Write};

/// The rules of this group.
pub(super) const RULES: &[&Rule] = &[
    &w01::RULE,
    &w02::RULE,
    &w03::RULE,
    &w04::RULE,
    &w05::RULE,
    &w06::RULE,
    &w07::RULE,
    &w08::RULE,
    &w09::RULE,
    &w10::RULE,
    &w11::RULE,
    &w12::RULE,
    &w13::RULE,
    &w14::RULE,
    &w15::RULE,
    &w16::RULE,
    &w17::RULE,
    &w18::RULE,
    &w19::RULE,
];

/// Every action of every write whose entity and its key are known.
fn actions<'a>(context: &Context<'a>) -> Vec<(&'a Write, &'a Action, &'a Entity)> {
    let model = context.model;
    let of = |write: &'a Write| write.actions().into_iter().map(move |action| (write, action));
    let all = model.writes.iter().flat_map(of);
    let known = all.filter_map(|(write, action)| action.entity.map(|id| (write, action, model.entity(id))));
    known.filter(|(_, _, entity)| entity.has_whole_key()).collect()
}

/// The field that is the entity's optimistic lock.
fn version_of(entity: &Entity) -> Option<FieldId> {
    entity.fields.iter().position(|field| field.flags.version.is_some()).map(FieldId)
}
