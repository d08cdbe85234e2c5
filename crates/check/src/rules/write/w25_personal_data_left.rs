//! W25: personal data stays when the person it is about is deleted.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Entity, EntityId, Field, Model, Type, Write};

pub(super) static RULE: Rule = Rule {
    code: Code("W25"),
    severity: Severity::Warning,
    title: "personal data stays when its person is deleted",
    page: include_str!("../../../../../docs/rules/W25.md"),
    find,
};

/// An entity with personal data that stays when the person it refers to is deleted.
#[derive(Clone, Copy, Debug)]
struct Keeper<'a> {
    id: EntityId,
    entity: &'a Entity,
    person: EntityId,
    kept: &'a Field,
    personal: &'a Field,
}

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let keepers = keepers(context.model);
    for write in &context.model.writes {
        for action in write.actions().into_iter().filter(|action| action.verb == Verb::Delete) {
            let Some(root) = action.entity.filter(|_| !keepers.is_empty()) else { continue };
            let gone = context.plans.dependents.reach(root);
            let is_left = |it: &&Keeper<'_>| {
                let is_removed = it.person == root || gone.contains(&it.person);
                is_removed && it.id != root && !gone.contains(&it.id) && !is_deleted(write, it.id)
            };
            let left = keepers.iter().filter(is_left);
            findings.extend(left.map(|keeper| finding(context.model.entity(root), action, keeper)));
        }
    }
}

fn is_deleted(write: &Write, id: EntityId) -> bool {
    write.actions().iter().any(|action| action.verb == Verb::Delete && action.entity == Some(id))
}

fn personal(entity: &Entity) -> Option<&Field> {
    entity.fields.iter().find(|field| field.flags.personal.is_some())
}

/// Returns the entities with personal data that keep a `ref` to a person: an entity with personal data of its own.
fn keepers(model: &Model) -> Vec<Keeper<'_>> {
    let mut keepers = Vec::new();
    for id in model.entity_ids() {
        let entity = model.entity(id);
        let Some(personal_data) = personal(entity) else { continue };
        for kept in entity.fields.iter().filter(|field| field.flags.keep.is_some()) {
            let Type::Ref { entity: Some(person), .. } = kept.kind else { continue };
            if personal(model.entity(person)).is_some() {
                keepers.push(Keeper { id, entity, person, kept, personal: personal_data });
            }
        }
    }
    keepers
}

fn finding(root: &Entity, action: &Action, keeper: &Keeper<'_>) -> Diagnostic {
    let Keeper { entity, kept, personal, .. } = keeper;
    let message = format!("deleting a {} keeps `{}` of its {}", root.name, personal.name, entity.name);
    Diagnostic::warning(RULE.code, action.entity_span, message)
        .label(format!("the {} items stay", entity.name))
        .also(kept.name_span, "`keep`: they stay")
        .also(personal.name_span, "personal data")
        .help(
            "write `cascade` instead of `keep`, or delete the items in the same write; state with `allow W25 \"…\"` that \
            the data must be kept",
        )
}
