//! Finds writes that look up an item through an index and then change it by its key.

use crate::check::Context;
use keyform_language::document::ast::Verb;
use keyform_language::plan::{ReadPlan, RequestKind};
use keyform_language::schema::{Action, Entity, Expr, ExprKind, Let, Origin, Read, ValuePath, Write, WriteStep};

/// A `let` that reads a global index, and the first action whose key depends on its result.
pub(super) struct Lookup<'a> {
    pub(super) write: &'a Write,
    pub(super) binding: &'a Let,
    pub(super) read: &'a Read,
    pub(super) plan: &'a ReadPlan,
    pub(super) entity: &'a Entity,
    pub(super) action: &'a Action,
}

/// Returns all lookups of a model, at most one per `let`.
pub(super) fn all<'a>(context: &Context<'a>) -> Vec<Lookup<'a>> {
    let mut lookups = Vec::new();
    for write in &context.model.writes {
        for (number, binding) in write.lets.iter().enumerate() {
            lookups.extend(of_let(context, write, number, binding));
        }
    }
    lookups
}

fn of_let<'a>(context: &Context<'a>, write: &'a Write, number: usize, binding: &'a Let) -> Option<Lookup<'a>> {
    let id = binding.read()?;
    let (read, plan) = (context.model.read(id), context.plans.read(id)?);
    let index = context.model.table(plan.table).index_at(plan.index?);
    if index.local || plan.request != RequestKind::Query {
        return None;
    }
    let mut actions = Vec::new();
    collect(&write.steps, &mut Vec::new(), &mut actions);
    let (_, action) = actions.into_iter().find(|(lists, action)| {
        let changes = matches!(action.verb, Verb::Update | Verb::Upsert | Verb::Delete);
        let same = action.entity.is_some_and(|entity| plan.returns.contains(&entity));
        changes && same && action.keys.iter().any(|(_, value)| comes_from(value, number, lists))
    })?;
    let entity = context.model.entity(action.entity?);
    Some(Lookup { write, binding, read, plan, entity, action })
}

/// Collects the actions with the lists of the `for` loops around them.
fn collect<'a>(steps: &'a [WriteStep], lists: &mut Vec<&'a Expr>, actions: &mut Vec<(Vec<&'a Expr>, &'a Action)>) {
    for step in steps {
        match step {
            WriteStep::Action(action) => actions.push((lists.clone(), action)),
            WriteStep::For(each) => {
                lists.push(&each.list);
                collect(&each.steps, lists, actions);
                lists.pop();
            }
        }
    }
}

/// Returns whether a value depends on the result of a `let`, directly or through the element of a loop.
fn comes_from(value: &Expr, binding: usize, lists: &[&Expr]) -> bool {
    let mut found = false;
    value.walk(&mut |part| {
        if let ExprKind::ValuePath(ValuePath { origin, .. }) = &part.kind {
            found |= match origin {
                Origin::Let { number, .. } => *number == binding,
                Origin::Element(depth) => {
                    lists.get(*depth).is_some_and(|list| comes_from(list, binding, &lists[..*depth]))
                }
                _ => false,
            };
        }
    });
    found
}
