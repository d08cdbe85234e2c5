//! A15: no pattern reads an entity, or no pattern writes it.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, EntityId, Model, Write};

pub(super) static RULE: Rule = Rule {
    code: Code("A15"),
    severity: Severity::Note,
    title: "an entity is never read or never written",
    page: include_str!("../../../../../docs/rules/A15.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    let (read, written) = (read(model), written(model));
    for id in model.entity_ids() {
        let entity = model.entity(id);
        let missing = match (read.contains(&id), written.contains(&id)) {
            (false, _) if !model.reads.is_empty() => "read",
            (_, false) if !model.writes.is_empty() => "written",
            _ => continue,
        };
        findings.push(
            Diagnostic::note_at(RULE.code, entity.name_span, format!("{} is never {missing}", entity.name))
                .label(format!("no pattern {}s it", if missing == "read" { "read" } else { "write" }))
                .help("add the pattern, or remove the entity"),
        );
    }
}

/// Returns the entities that a read, a guard or a `check` uses.
fn read(model: &Model) -> Vec<EntityId> {
    let reads = model.reads.iter().flat_map(|read| read.result.entities());
    let guards = model.guards.iter().filter_map(|guard| guard.entity);
    let checks =
        actions(model).into_iter().filter(|action| action.verb == Verb::Check).filter_map(|action| action.entity);
    reads.chain(guards).chain(checks).collect()
}

fn written(model: &Model) -> Vec<EntityId> {
    let makes = |action: &&Action| matches!(action.verb, Verb::Create | Verb::Put | Verb::Upsert);
    actions(model).into_iter().filter(makes).filter_map(|action| action.entity).collect()
}

fn actions(model: &Model) -> Vec<&Action> {
    model.writes.iter().flat_map(Write::actions).collect()
}
