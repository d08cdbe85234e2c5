//! W36: an amount is deducted, and neither a bound of the type nor a condition keeps it from falling below zero.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{BinaryOp, Verb};
use keyform_language::schema::{Action, Change, ChangeKind, Entity, Expr, ExprKind, FieldId, Origin, ValuePath, Write};

use super::{actions, actions_by_entity};

pub(super) static RULE: Rule = Rule {
    code: Code("W36"),
    severity: Severity::Warning,
    title: "an amount is deducted without a limit",
    page: include_str!("../../../../../docs/rules/W36.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let all = actions_by_entity(context.model);
    for (write, action, entity) in actions(context) {
        let steps = action.entity.and_then(|id| all.get(&id)).map(Vec::as_slice).unwrap_or_default();
        for change in &action.changes {
            let Some(field) = change.field.filter(|_| change.path().is_empty()) else { continue };
            let Some(by) = deducted(change, field) else { continue };
            if is_unlimited(entity, field) && !action.tests(field) && is_amount(steps, write, action, field, by) {
                findings.push(finding(write, change, entity, field));
            }
        }
    }
}

/// Returns the value that `field -= value` or `field = field - value` deducts.
fn deducted(change: &Change, field: FieldId) -> Option<&Expr> {
    match &change.kind {
        ChangeKind::Decrease(by) => Some(by),
        ChangeKind::Set(Expr { kind: ExprKind::Binary(BinaryOp::Minus, from, by), .. }) => {
            (from.own_fields() == [field] && !by.has_own_fields()).then_some(by)
        }
        _ => None,
    }
}

/// Returns whether the type has no bounds. Declared bounds are conditions of the request.
fn is_unlimited(entity: &Entity, field: FieldId) -> bool {
    let bounds = entity.field(field).kind.value_bounds().unwrap_or_default();
    entity.field(field).kind.is_numeric() && bounds.min.is_none() && bounds.max.is_none()
}

/// Returns whether the deducted value is an amount that may exceed what is there.
///
/// `votes -= 1` beside the delete of a vote, or `total -= line.price` beside the delete of the line, takes back what
/// an earlier write added. A value that another write does test (`if credit >= price`) is a limited one.
fn is_amount(steps: &[(&Write, &Action)], write: &Write, action: &Action, field: FieldId, by: &Expr) -> bool {
    if takes_back(write, action, by) {
        return false;
    }
    let is_given = matches!(&by.kind, ExprKind::ValuePath(_) | ExprKind::Binary(..));
    is_given || is_tested_elsewhere(steps, action, field)
}

/// Returns whether another step removes or changes the item that was counted, or refuses a repetition.
fn takes_back(write: &Write, action: &Action, by: &Expr) -> bool {
    let others = write.actions();
    let mut others = others.iter().filter(|other| other.span != action.span);
    match &by.kind {
        ExprKind::Number(_) => others.any(|other| other.verb == Verb::Delete || !other.conditions.is_empty()),
        ExprKind::ValuePath(ValuePath { origin: Origin::Let { entity: Some(id), .. }, .. }) => {
            others.any(|other| other.entity == Some(*id) && matches!(other.verb, Verb::Delete | Verb::Update))
        }
        ExprKind::ValuePath(ValuePath { origin: Origin::Element(_), .. }) => {
            others.any(|other| matches!(other.verb, Verb::Delete | Verb::Update))
        }
        _ => false,
    }
}

fn is_tested_elsewhere(steps: &[(&Write, &Action)], action: &Action, field: FieldId) -> bool {
    steps.iter().any(|(_, other)| other.span != action.span && other.tests(field))
}

fn finding(write: &Write, change: &Change, entity: &Entity, field: FieldId) -> Diagnostic {
    let of = entity.field(field);
    let name = &of.name;
    let is_money = of.kind.scalar().is_some_and(|(scalar, _)| scalar.is_money());
    let declare = if is_money { String::new() } else { format!(", or declare `{name}: int(0..)`") };
    Diagnostic::warning(
        RULE.code,
        change.span,
        format!("`{}` may make `{name}` of {} negative", write.name, entity.name),
    )
    .label("no condition, and the type has no bounds")
    .also(of.name_span, "any number")
    .help(format!(
        "add a condition, `if {name} >= … else …`{declare}; if it may be negative, say so: `allow W36 \"…\"`"
    ))
}

#[cfg(test)]
mod tests {
    use crate::Checked;

    fn check(steps: &str, is_reported: bool) {
        let text = format!(
            r#"model m
            table T "table" {{ key pk, sk }}
            entity Account in T {{
              key "A#{{id}}", "A"  id: slug  balance: money = 0  left: int(0..) = 0  votes: int = 0
            }}
            entity Vote in T {{ key "A#{{id}}", "V#{{by}}"  id: slug  by: slug  weight: int }}
            read vote(id, by) -> Vote? strong
            write lock(id) {{ update Account(id) {{ votes += 1 }} else None if votes < 10 else Full }}
            write w(id, by: slug, n: int) {{ {steps} }}"#
        );
        let checked = Checked::read(&text);
        let broken = checked.diagnostics.iter().find(|finding| finding.code.0.starts_with(['S', 'N']));
        assert!(broken.is_none(), "{steps}: {broken:?}");
        assert_eq!(checked.diagnostics.iter().any(|finding| finding.code.0 == "W36"), is_reported, "{steps}");
    }

    #[test]
    fn amounts_without_a_limit_are_reported() {
        check("update Account(id) { balance -= n } else None", true);
        check("update Account(id) { balance = balance - n } else None", true);
        check("update Account(id) { balance -= n } else None if id = by", true);
        check("update Account(id) { votes -= 1 } else None", true);
    }

    #[test]
    fn limited_amounts_and_those_taken_back_are_not_reported() {
        check("update Account(id) { balance -= n } else None if balance >= n else Poor", false);
        check("update Account(id) { left -= n } else None", false);
        check("update Account(id) { balance += n } else None", false);
        check("delete Vote(id, by) if exists else None  update Account(id) { votes -= 1 } else Gone", false);
        check(
            "let v = vote(id, by) else None  delete Vote(id, by) if weight = v.weight else Changed
            update Account(id) { votes -= v.weight } else Gone",
            false,
        );
    }
}
