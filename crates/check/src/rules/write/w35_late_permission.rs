//! W35: `allow` decides by a field that an index, or a read without `strong`, may still show with its old value.

use std::collections::BTreeSet;

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::plan::ReadOutcome;
use keyform_language::schema::{
    EntityId, Expr, ExprKind, FieldId, Model, Origin, Permission, ReadId, ValuePath, Write,
};

pub(super) static RULE: Rule = Rule {
    code: Code("W35"),
    severity: Severity::Error,
    title: "a permission decides by a value that may be old",
    page: include_str!("../../../../../docs/rules/W35.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    let reads = model.reads.iter().map(|read| (&read.name, read.allow.as_ref()));
    let writes = model.writes.iter().map(|write| (&write.name, write.allow.as_ref()));
    let changed = changed(model);
    for (name, allow) in reads.chain(writes) {
        let Some(condition) = allow.and_then(Permission::condition) else { continue };
        condition.walk(&mut |part| findings.extend(judge(context, &changed, name, part)));
    }
}

fn judge(
    context: &Context<'_>,
    changed: &BTreeSet<(EntityId, FieldId)>,
    pattern: &str,
    part: &Expr,
) -> Option<Diagnostic> {
    let ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, field: Some(field), .. }, .. }) = &part.kind
    else {
        return None;
    };
    let model = context.model;
    let entity = *model.read(*read).result.entities().first()?;
    let late = late(context, *read)?;
    let may_change = changed.contains(&(entity, *field));
    may_change.then(|| finding(model, pattern, part, (*read, late), (entity, *field)))
}

/// Reason a read may return an old value.
#[derive(Clone, Copy)]
enum Late {
    /// An index lags behind its table.
    Index,
    /// Without `strong`, a read of the table is eventually consistent.
    Weak,
}

fn late(context: &Context<'_>, read: ReadId) -> Option<Late> {
    match context.plans.reads.get(read.0) {
        Some(ReadOutcome::Planned(plan)) if plan.strong => None,
        Some(ReadOutcome::Planned(plan)) => Some(if plan.index.is_some() { Late::Index } else { Late::Weak }),
        _ => None,
    }
}

/// Returns the fields of stored items that a write of the model can change.
fn changed(model: &Model) -> BTreeSet<(EntityId, FieldId)> {
    let mut found = BTreeSet::new();
    for action in model.writes.iter().flat_map(Write::actions) {
        let Some(id) = action.entity else { continue };
        let entity = model.entity(id);
        let is_kept = |field: FieldId| entity.field(field).is_fixed() || entity.key_fields().contains(&field);
        match action.verb {
            Verb::Update | Verb::Upsert | Verb::Put => {
                let fields = action.changes.iter().filter_map(|change| change.field);
                found.extend(fields.filter(|field| !is_kept(*field)).map(|field| (id, field)));
            }
            Verb::Create | Verb::Delete | Verb::Check => {}
        }
    }
    found
}

fn finding(
    model: &Model,
    pattern: &str,
    part: &Expr,
    (read, late): (ReadId, Late),
    (id, field): (EntityId, FieldId),
) -> Diagnostic {
    let (entity, read) = (model.entity(id), model.read(read));
    let name = &entity.field(field).name;
    let (severity, how, label, help) = match late {
        Late::Index => (
            Severity::Error,
            "through an index",
            "the index may still have the old value",
            format!(
                "read the {0} by its key: with a guard, `exists {0}(…) where {name} = …`, or with a `strong` read",
                entity.name
            ),
        ),
        Late::Weak => (
            Severity::Warning,
            "without `strong`",
            "the read may return the old value",
            format!("add `strong` to `{}`, or use a guard", read.name),
        ),
    };
    let message = format!("`allow` of `{pattern}` decides by `{name}`, which `{}` reads {how}", read.name);
    Diagnostic::new(RULE.code, severity, part.span, message)
        .label(label)
        .also(read.name_span, format!("reads {how}"))
        .also(entity.field(field).name_span, "can change")
        .note("Only key fields and `immutable` fields have their final value at once.")
        .help(help)
}
