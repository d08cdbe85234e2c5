//! W02: a transaction contains one item twice.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Action, Expr, ExprKind, FieldId, For, Origin, ValuePath, Write, WriteStep};

pub(super) static RULE: Rule = Rule {
    code: Code("W02"),
    severity: Severity::Error,
    title: "a transaction writes one item twice",
    page: include_str!("../../../../../docs/rules/W02.md"),
    find,
};

/// Actions of a write that are compared with each other. A request has at most 100; W03 reports more.
const ACTIONS_COMPARED: usize = 200;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        pairs(context, write, findings);
        repeated(context, &write.steps, 0, findings);
    }
}

/// Reports two actions with provably the same key.
fn pairs(context: &Context<'_>, write: &Write, findings: &mut Vec<Diagnostic>) {
    let mut actions = write.actions();
    actions.truncate(ACTIONS_COMPARED);
    for (number, second) in actions.iter().enumerate() {
        let first = actions[..number].iter().find(|first| is_same_item(context, first, second));
        if let (Some(first), Some(entity)) = (first, second.entity) {
            let name = &context.model.entity(entity).name;
            findings.push(
                Diagnostic::error(RULE.code, second.entity_span, format!("`{}` writes one {name} twice", write.name))
                    .label("the same key again")
                    .also(first.entity_span, "first here")
                    .note("TransactWriteItems rejects a request that names an item twice.")
                    .help("join the two into one action: it can have several changes and conditions"),
            );
        }
    }
}

fn is_same_item(context: &Context<'_>, first: &Action, second: &Action) -> bool {
    let (Some(entity), true) = (first.entity, first.entity == second.entity) else { return false };
    let fields = context.model.entity(entity).key_fields();
    !fields.is_empty() && fields.into_iter().all(|field| is_same_value(first, second, field))
}

fn is_same_value(first: &Action, second: &Action, field: FieldId) -> bool {
    match (key_value(first, field), key_value(second, field)) {
        (Some(first), Some(second)) => first.same(second) && !first.is_fresh(),
        _ => false,
    }
}

fn key_value(action: &Action, field: FieldId) -> Option<&Expr> {
    let given = action.keys.iter().find(|(key, _)| *key == field).map(|(_, value)| value);
    given.or_else(|| action.value_of(field))
}

/// Reports actions inside `for` whose key does not depend on the element.
fn repeated(context: &Context<'_>, steps: &[WriteStep], depth: usize, findings: &mut Vec<Diagnostic>) {
    for step in steps {
        let WriteStep::For(each) = step else { continue };
        if each.max != Some(1) {
            constant(context, each, depth, findings);
        }
        repeated(context, &each.steps, depth + 1, findings);
    }
}

fn constant(context: &Context<'_>, each: &For, depth: usize, findings: &mut Vec<Diagnostic>) {
    for step in &each.steps {
        let WriteStep::Action(action) = step else { continue };
        let Some(entity) = action.entity.map(|id| context.model.entity(id)) else { continue };
        let values: Vec<Option<&Expr>> =
            entity.key_fields().into_iter().map(|field| key_value(action, field)).collect();
        let varies = |value: &Option<&Expr>| value.is_none_or(|value| value.is_fresh() || depends_on(value, depth));
        if !values.iter().any(varies) {
            findings.push(
                Diagnostic::error(
                    RULE.code,
                    action.entity_span,
                    format!("each iteration of `for {}` writes the same {}", each.name, entity.name),
                )
                .label(format!("its key does not depend on `{}`", each.name))
                .note("TransactWriteItems rejects a request that names an item twice.")
                .help("move the action out of the `for`"),
            );
        }
    }
}

fn depends_on(value: &Expr, depth: usize) -> bool {
    let mut found = false;
    value.walk(&mut |expr| {
        found |= matches!(&expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Element(at), .. }) if *at >= depth);
    });
    found
}
