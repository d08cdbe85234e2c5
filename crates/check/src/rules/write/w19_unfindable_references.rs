//! W19: no key finds the items that a delete must remove (`cascade`) or that must prevent it (`restrict`).
//!
//! ADR 0020: Keyform never scans a table for dependent items, so a missing key is an error.

use crate::check::{Context, Rule};
use crate::rules::show::listed;
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::plan::{Dependent, Found, OnDelete};
use keyform_language::schema::{EntityId, FieldId};
use keyform_language::span::Span;

pub(super) static RULE: Rule = Rule {
    code: Code("W19"),
    severity: Severity::Error,
    title: "a delete cannot find the items that refer to it",
    page: include_str!("../../../../../docs/rules/W19.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut looked_at: Vec<EntityId> = Vec::new();
    for action in context.model.writes.iter().flat_map(|write| write.actions()) {
        let Some(root) = action.entity.filter(|_| action.verb == Verb::Delete) else { continue };
        for parent in [root].into_iter().chain(context.plans.dependents.reach(root)) {
            if !looked_at.contains(&parent) {
                looked_at.push(parent);
                let dependents = context.plans.dependents.of(parent).iter();
                findings
                    .extend(dependents.filter_map(|dependent| finding(context, parent, dependent, action.entity_span)));
            }
        }
    }
}

fn finding(context: &Context<'_>, parent: EntityId, dependent: &Dependent, at: Span) -> Option<Diagnostic> {
    match &dependent.found {
        Found::By(_) | Found::Through(_) => None,
        Found::Nowhere => Some(nowhere(context, parent, dependent, at)),
        Found::Ambiguous(missing) => Some(ambiguous(context, parent, dependent, missing, at)),
    }
}

/// Returns the flag of the `ref`, and its effect on a delete for the message.
fn purpose(dependent: &Dependent) -> (&'static str, &'static str) {
    match dependent.on_delete {
        OnDelete::Cascade => ("cascade", "deletes them too"),
        OnDelete::Restrict => ("restrict", "is rejected while there are any"),
    }
}

fn nowhere(context: &Context<'_>, parent: EntityId, dependent: &Dependent, at: Span) -> Diagnostic {
    let (child, parent) = (context.model.entity(dependent.entity), context.model.entity(parent));
    let field = child.field(dependent.field);
    let (word, does) = purpose(dependent);
    let message = format!("no key finds the {} items of one {}, which `{word}` requires", child.name, parent.name);
    let table = child.table.map_or("its table", |table| context.model.table(table).name.as_str());
    Diagnostic::error(RULE.code, field.name_span, message)
        .label(format!("no key of {} begins with it", child.name))
        .also(at, format!("this delete {does}"))
        .help(format!(
            "put {} into an index of {table} whose partition key contains `{}`; or use `keep` if they may stay or \
            something else removes them",
            child.name, field.name
        ))
}

fn ambiguous(
    context: &Context<'_>,
    parent: EntityId,
    dependent: &Dependent,
    missing: &[FieldId],
    at: Span,
) -> Diagnostic {
    let (child, parent) = (context.model.entity(dependent.entity), context.model.entity(parent));
    let field = child.field(dependent.field);
    let (_, does) = purpose(dependent);
    let names = listed(missing.iter().map(|field| parent.field(*field).name.as_str()));
    let message = format!("`{}` alone does not identify the {} of a {}", field.name, parent.name, child.name);
    Diagnostic::error(RULE.code, field.name_span, message)
        .label(format!("the key of a {} also contains {names}", parent.name))
        .also(at, format!("this delete {does}"))
        .help(format!("add the missing {names} to {} too, or use `keep`", child.name))
}
