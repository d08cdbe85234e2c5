//! W12: a collection or a string grows without a bound inside one item.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Change, ChangeKind, Entity, FieldId, PathStep, Type};

use super::actions;

pub(super) static RULE: Rule = Rule {
    code: Code("W12"),
    severity: Severity::Warning,
    title: "a list, map, set or text grows without a bound",
    page: include_str!("../../../../../docs/rules/W12.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut seen: Vec<(&str, FieldId)> = Vec::new();
    for (_, action, entity) in actions(context) {
        for change in &action.changes {
            let Some(field) = change.field.filter(|_| grows(entity, change) || is_long_text(entity, change)) else {
                continue;
            };
            if !seen.contains(&(entity.name.as_str(), field)) {
                seen.push((&entity.name, field));
                findings.push(finding(entity, field, change));
            }
        }
    }
}

/// Returns whether the change adds to an unbounded collection: it appends, adds, sets a new key of a map, or rewrites a
/// list of records, which is how such a list grows without `append`.
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

/// Returns whether the change sets an unbounded string whose name suggests long text.
fn is_long_text(entity: &Entity, change: &Change) -> bool {
    let names = ["body", "content", "payload", "transcript", "history", "messages", "html", "markdown", "document"];
    let Some(field) = change.field.filter(|_| change.path().is_empty()).map(|field| entity.field(field)) else {
        return false;
    };
    let endless = field.kind.free_text().is_some_and(|bounds| bounds.max.is_none());
    endless && matches!(change.kind, ChangeKind::Set(_)) && names.contains(&field.name.as_str())
}

fn is_endless(kind: &Type) -> bool {
    matches!(kind, Type::List(_, bounds) | Type::Map(_, bounds) | Type::Set(_, bounds) if bounds.max.is_none())
}

fn finding(entity: &Entity, field: FieldId, change: &Change) -> Diagnostic {
    let field = entity.field(field);
    let name = &field.name;
    let place = if change.written { change.span } else { field.name_span };
    let (label, help) = if field.kind.is_text() {
        let help = format!("add a limit, `{name}: string(..20000)`, and keep longer text in an object store");
        ("any length", help)
    } else {
        let help =
            format!("add a limit, `{name}: …(..100)`, or make each element a separate item in the same partition");
        ("grows with each call", help)
    };
    Diagnostic::warning(RULE.code, place, format!("nothing limits the size of `{name}`, but an item can have 400 KB"))
        .label(label)
        .also(field.type_span, "no bound")
        .note("Every write pays for the whole item, however small the change.")
        .help(help)
}
