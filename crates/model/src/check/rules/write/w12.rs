//! W12: something grows inside one item without a bound.

use crate::check::{Context, Rule};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::schema::{Change, ChangeKind, Entity, FieldId, PathStep, Type};

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W12"),
    severity: Severity::Warning,
    title: "a list, map or set grows without a bound",
    page: include_str!("../../../../../../docs/rules/W12.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut seen: Vec<(&str, FieldId)> = Vec::new();
    for (_, action, entity) in actions(context) {
        for change in &action.changes {
            let Some(field) = change.field.filter(|_| grows(entity, change)) else { continue };
            if !seen.contains(&(entity.name.as_str(), field)) {
                seen.push((&entity.name, field));
                findings.push(finding(entity, field, change));
            }
        }
    }
}

/// Whether the change adds to a collection without a bound: by appending, by adding, by a new key of a map, or by rewriting a list of
/// records, which is how a list grows where nobody appends.
fn grows(entity: &Entity, change: &Change) -> bool {
    let Some(field) = change.field else { return false };
    let mut kind = entity.field(field).kind.resolved();
    for step in change.path() {
        if is_endless(kind) && matches!(step, PathStep::Element(_)) && !matches!(kind, Type::List(..)) {
            return true;
        }
        kind = match (kind, step) {
            (Type::Map(of, _) | Type::List(of, _), _) => of.resolved(),
            (Type::Record(fields), PathStep::Member(name)) => match fields.iter().find(|field| &field.name == name) {
                Some(field) => field.kind.resolved(),
                None => return false,
            },
            _ => return false,
        };
    }
    match change.kind {
        ChangeKind::Append(_) | ChangeKind::Add(_) => is_endless(kind),
        ChangeKind::Set(_) => {
            matches!(kind, Type::List(of, bounds) if bounds.max.is_none() && matches!(of.resolved(), Type::Record(_) | Type::Json))
        }
        ChangeKind::Increase(_) | ChangeKind::Decrease(_) | ChangeKind::Take(_) | ChangeKind::Remove => false,
    }
}

fn is_endless(kind: &Type) -> bool {
    matches!(kind, Type::List(_, bounds) | Type::Map(_, bounds) | Type::Set(_, bounds) if bounds.max.is_none())
}

fn finding(entity: &Entity, field: FieldId, change: &Change) -> Diagnostic {
    let field = entity.field(field);
    let place = if change.written { change.span } else { field.name_span };
    Diagnostic::warning(
        RULE.code,
        place,
        format!("nothing bounds how much `{}` holds, and an item holds 400 KB", field.name),
    )
    .label("grows with each call")
    .also(field.type_span, "no bound")
    .note("Every write pays for the whole item, however small the change.")
    .help(format!(
        "give it a bound, `{}: …(..100)`, or make each element an item of its own in the same partition",
        field.name
    ))
}
