//! W20: a `batch` contains what BatchWriteItem cannot do.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::plan::referred_fields;
use keyform_language::schema::{Action, Entity, EntityId, Model, Write, limit};
use keyform_language::span::Span;

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W20"),
    severity: Severity::Error,
    title: "a batch cannot do this",
    page: include_str!("../../../../../docs/rules/W20.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in context.model.writes.iter().filter(|write| write.batch.is_some()) {
        findings.extend(clauses(write));
    }
    for (write, action, entity) in actions(context) {
        if let Some(batch) = write.batch
            && let Some((span, message)) = past_batch(context.model, action, entity)
        {
            findings.push(finding(batch, span, message));
        }
    }
}

/// Returns the clauses that a batch does not keep.
fn clauses(write: &Write) -> Vec<Diagnostic> {
    let Some(batch) = write.batch else { return Vec::new() };
    let token = write.idempotent.map(|span| (span, "is `idempotent`, but BatchWriteItem has no token"));
    let result = write.result.map(|result| (result.span, "returns an item, but BatchWriteItem returns none"));
    let found = token.into_iter().chain(result);
    found.map(|(span, what)| finding(batch, span, format!("`{}` {what}", write.name))).collect()
}

/// Returns what an action needs that a batch does not have, and where.
fn past_batch(model: &Model, action: &Action, entity: &Entity) -> Option<(Span, String)> {
    let name = &entity.name;
    let verb = match action.verb {
        Verb::Create => Some(format!("`create {name}` would replace an item that exists")),
        Verb::Update => Some(format!("`update {name}` cannot be sent in a batch")),
        Verb::Upsert => Some(format!("`upsert {name}` cannot be sent in a batch")),
        Verb::Check => Some(format!("`check {name}` cannot be sent in a batch")),
        Verb::Put | Verb::Delete => None,
    };
    if let Some(message) = verb {
        return Some((action.span, message));
    }
    if let Some(condition) = action.conditions.first() {
        return Some((condition.condition.span, format!("this condition on {name} would not be sent")));
    }
    if action.presence.is_some() || action.outcome.is_some() {
        return Some((action.span, format!("this condition on {name} would not be sent")));
    }
    if let Some(message) = not_kept(action, entity) {
        return Some((action.entity_span, message));
    }
    let refers = |id: EntityId| !referred_fields(model, id).is_empty();
    (action.verb == Verb::Delete && action.entity.is_some_and(refers)).then(|| {
        (action.entity_span, format!("other items refer to a field of {name} that may change before the batch is sent"))
    })
}

/// Returns what a `put` without a condition does to fields that it must keep.
fn not_kept(action: &Action, entity: &Entity) -> Option<String> {
    if action.verb != Verb::Put {
        return None;
    }
    let (verb, name) = (if action.replace { "replace" } else { "put" }, &entity.name);
    if let Some(field) = limit::kept(entity, action).first() {
        let field = &entity.field(*field).name;
        return Some(format!("`{verb} {name}` would overwrite `{field}`, which is `immutable`"));
    }
    let field = entity.field(*limit::continued(entity, action).first()?);
    Some(match field.flags.version {
        Some(_) => format!("`{verb} {name}` would not raise `{}`, which is `version`", field.name),
        None => format!("`{verb} {name}` would reset `{}`, which is `created`", field.name),
    })
}

fn finding(batch: Span, span: Span, message: String) -> Diagnostic {
    Diagnostic::error(RULE.code, span, message)
        .also(batch, "BatchWriteItem only puts and deletes, without conditions")
        .help("remove `batch`: the write becomes a transaction of up to 100 actions; or use `put` and `delete` without conditions")
}
