//! W17: a condition compares a value with itself.
//!
//! In a condition, a name refers to a field of the item first, so `score < score` never refers to the parameter of that
//! name.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Expr, ExprKind, Model, Origin, Parameter, Permission, ValuePath};

pub(super) static RULE: Rule = Rule {
    code: Code("W17"),
    severity: Severity::Error,
    title: "a condition compares a value with itself",
    page: include_str!("../../../../../docs/rules/W17.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for (condition, parameters) in conditions(model) {
        condition.walk(&mut |part| {
            if let Some(place) = compared_with_itself(part) {
                findings.push(finding(model, parameters, part, place));
            }
        });
    }
}

/// Returns every condition of the model with the parameters in its scope.
fn conditions(model: &Model) -> Vec<(&Expr, &[Parameter])> {
    let mut found: Vec<(&Expr, &[Parameter])> = Vec::new();
    for guard in &model.guards {
        found.extend(guard.condition.iter().map(|condition| (condition, &*guard.parameters)));
    }
    for read in &model.reads {
        let all = read.filter.iter().chain(permission(read.allow.as_ref()));
        found.extend(all.map(|condition| (condition, &*read.parameters)));
    }
    for write in &model.writes {
        let required = write.requires.iter().map(|require| &require.condition);
        let actions = write.actions().into_iter().flat_map(|action| &action.conditions);
        let all = required.chain(actions.map(|part| &part.condition)).chain(permission(write.allow.as_ref()));
        found.extend(all.map(|condition| (condition, &*write.parameters)));
    }
    found
}

fn permission(allow: Option<&Permission>) -> Option<&Expr> {
    match allow {
        Some(Permission::When(condition)) => Some(condition),
        _ => None,
    }
}

/// Returns the operand that occurs on both sides of a comparison.
fn compared_with_itself(condition: &Expr) -> Option<&ValuePath> {
    let (of, with) = match &condition.kind {
        ExprKind::Binary(operator, left, right) if operator.is_test() => (left, vec![&**right]),
        ExprKind::Between(of, low, high) => (of, vec![&**low, &**high]),
        ExprKind::In(of, list) => (of, list.iter().collect()),
        _ => return None,
    };
    let ExprKind::ValuePath(place) = &of.kind else { return None };
    with.into_iter().any(|other| of.same(other)).then_some(place)
}

fn finding(model: &Model, parameters: &[Parameter], condition: &Expr, place: &ValuePath) -> Diagnostic {
    let Origin::Field(entity, field) = place.origin else {
        return Diagnostic::error(RULE.code, condition.span, "both sides are the same")
            .help("compare it with another value");
    };
    let (entity, name) = (model.entity(entity), &model.entity(entity).field(field).name);
    let message = format!("`{name}` of {} is compared with itself", entity.name);
    let finding = Diagnostic::error(RULE.code, condition.span, message)
        .label("in a condition, a name refers to a field of the item first");
    match parameters.iter().find(|parameter| parameter.arguments.contains(name)) {
        Some(parameter) => finding
            .also(parameter.span, "is shadowed by the field")
            .help("rename the parameter, give it the field's type, and compare with that"),
        None => finding.help("compare it with a parameter, a value or another field"),
    }
}
