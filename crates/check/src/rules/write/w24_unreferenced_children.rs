//! W24: a delete leaves items behind that name the deleted item without a `ref`.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{Context, Rule};
use crate::rules::show::listed;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Entity, EntityId, Model, Write};

use super::belongs::{self, PlainId};

pub(super) static RULE: Rule = Rule {
    code: Code("W24"),
    severity: Severity::Warning,
    title: "a delete leaves items behind that belong to the deleted item",
    page: include_str!("../../../../../docs/rules/W24.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    let mut children: BTreeMap<EntityId, Vec<PlainId>> = BTreeMap::new();
    for it in belongs::plain_ids(model) {
        if belongs::is_in_key(model.entity(it.child), it.field) || !expires(model, it.child) {
            children.entry(it.parent).or_default().push(it);
        }
    }
    for write in &model.writes {
        for action in write.actions().into_iter().filter(|action| action.verb == Verb::Delete) {
            let Some(root) = action.entity else { continue };
            let gone = context.plans.dependents.reach(root);
            let parents = std::iter::once(&root).chain(&gone);
            let children = parents.filter_map(|parent| children.get(parent)).flatten().copied();
            let left: Vec<PlainId> = children.filter(|child| is_left(write, root, &gone, child)).collect();
            if !left.is_empty() {
                findings.push(finding(context, action, root, &left));
            }
        }
    }
}

/// Returns true if items of the entity expire.
fn expires(model: &Model, id: EntityId) -> bool {
    let entity = model.entity(id);
    let ttl = entity.table.and_then(|table| model.table(table).ttl.as_ref());
    ttl.is_some_and(|ttl| entity.field_named(&ttl.value).is_some())
}

/// Returns true if a delete of an item of `root` does not remove the child.
fn is_left(write: &Write, root: EntityId, gone: &BTreeSet<EntityId>, it: &PlainId) -> bool {
    let is_deleted = |action: &&Action| action.verb == Verb::Delete && action.entity == Some(it.child);
    let is_gone = gone.contains(&it.child) || it.child == root || write.actions().iter().any(is_deleted);
    !is_gone
}

fn finding(context: &Context<'_>, action: &Action, root: EntityId, left: &[PlainId]) -> Diagnostic {
    let entity = |id: EntityId| -> &Entity { context.model.entity(id) };
    let mut names: Vec<&str> = left.iter().map(|it| entity(it.child).name.as_str()).collect();
    names.dedup();
    let message = format!("deleting a {} leaves its {} behind", entity(root).name, listed(names));
    let mut finding = Diagnostic::warning(RULE.code, action.entity_span, message).label("deletes only this item");
    for it in left {
        let label = format!("names the {}, but is not a `ref`", entity(it.parent).name);
        finding = finding.also(entity(it.child).field(it.field).name_span, label);
    }
    let parents: BTreeSet<&str> = left.iter().map(|it| entity(it.parent).name.as_str()).collect();
    let refs: Vec<String> = parents.iter().map(|name| format!("ref {name}")).collect();
    finding.help(format!(
        "write {} with `cascade` to delete them too, `restrict` to reject the delete while there are any, or `keep` to \
        leave them",
        listed(refs.iter().map(String::as_str))
    ))
}
