//! W35: `allow` decides by a field that an index may still show with its old value.

use crate::check::{Context, Rule};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::document::ast::Verb;
use crate::plan::ReadOutcome;
use crate::schema::{EntityId, Expr, ExprKind, FieldId, Model, Origin, Permission, ReadId, ValuePath, Write};

pub(super) static RULE: Rule = Rule {
    code: Code("W35"),
    severity: Severity::Error,
    title: "a permission decides by a field that an index shows late",
    page: include_str!("../../../../../../docs/rules/W35.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    let reads = model.reads.iter().map(|read| (&read.name, read.allow.as_ref()));
    let writes = model.writes.iter().map(|write| (&write.name, write.allow.as_ref()));
    for (name, allow) in reads.chain(writes) {
        let Some(condition) = allow.and_then(Permission::condition) else { continue };
        condition.walk(&mut |part| findings.extend(judge(context, name, part)));
    }
}

fn judge(context: &Context<'_>, pattern: &str, part: &Expr) -> Option<Diagnostic> {
    let ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, field: Some(field), .. }, .. }) = &part.kind
    else {
        return None;
    };
    let model = context.model;
    let entity = *model.read(*read).result.entities().first()?;
    let late = is_late(context, *read) && may_change(model, entity, *field);
    late.then(|| finding(model, pattern, part, *read, entity, *field))
}

/// Returns whether a read goes through an index, which is eventually consistent.
fn is_late(context: &Context<'_>, read: ReadId) -> bool {
    match context.plans.reads.get(read.0) {
        Some(ReadOutcome::Planned(plan)) => plan.index.is_some() && !plan.strong,
        _ => false,
    }
}

/// Returns whether a write of the model can change a field of a stored item.
fn may_change(model: &Model, id: EntityId, field: FieldId) -> bool {
    let entity = model.entity(id);
    if entity.field(field).is_fixed() || entity.key_fields().contains(&field) {
        return false;
    }
    model.writes.iter().flat_map(Write::actions).any(|action| {
        let changes = || action.changes.iter().any(|change| change.field == Some(field));
        action.entity == Some(id)
            && match action.verb {
                Verb::Update | Verb::Upsert | Verb::Put => changes(),
                Verb::Create | Verb::Delete | Verb::Check => false,
            }
    })
}

fn finding(model: &Model, pattern: &str, part: &Expr, read: ReadId, id: EntityId, field: FieldId) -> Diagnostic {
    let (entity, read) = (model.entity(id), model.read(read));
    let name = &entity.field(field).name;
    Diagnostic::error(
        RULE.code,
        part.span,
        format!("`allow` of `{pattern}` decides by `{name}`, which `{}` reads through an index", read.name),
    )
    .label("the index may still have the old value")
    .also(read.name_span, "reads through an index")
    .also(entity.field(field).name_span, "can change")
    .note("Only key fields and `immutable` fields of an index have their final value at once.")
    .help(format!(
        "read the {0} by its key: with a guard, `exists {0}(…) where {name} = …`, or with a `strong` read",
        entity.name
    ))
}
