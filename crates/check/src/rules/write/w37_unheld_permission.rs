//! W37: `allow held` names a permission that the request cannot carry.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{Unholdable, unholdable};
use keyform_language::schema::{Expr, ExprKind, Model, Origin, Permission, Timing, ValuePath, Write};

pub(super) static RULE: Rule = Rule {
    code: Code("W37"),
    severity: Severity::Error,
    title: "a request cannot hold the permission that it should",
    page: include_str!("../../../../../docs/rules/W37.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        let (Timing::Held(span), Some(Permission::When(condition))) = (&write.timing, &write.allow) else { continue };
        let mut has_guard = false;
        condition.walk(&mut |part| {
            has_guard |= matches!(part.kind, ExprKind::Guard { .. });
            findings.extend(judge(context.model, write, part));
        });
        if !has_guard {
            findings.push(
                Diagnostic::error(RULE.code, *span, format!("`allow held` of `{}` has no guard to hold", write.name))
                    .label("the claims of a caller do not change during a call")
                    .help("remove `held`, or name a guard"),
            );
        }
    }
}

/// Reports a part of `allow` that is decided before the request.
fn judge(model: &Model, write: &Write, part: &Expr) -> Option<Diagnostic> {
    match &part.kind {
        ExprKind::Guard { guard, .. } => {
            let guard = &model.guards[guard.0];
            let (label, help) = match unholdable(write, guard)? {
                Unholdable::Batch => ("a batch has no conditions", "remove `batch`, or remove `held`"),
                Unholdable::Clock => (
                    "it depends on the clock, and an idempotent request must stay the same",
                    "remove `idempotent`, or remove `held`",
                ),
            };
            let message = format!("the request of `{}` cannot hold the guard `{}`", write.name, guard.name);
            Some(Diagnostic::error(RULE.code, part.span, message).label(label).help(help))
        }
        ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, .. }, .. }) => {
            let message =
                format!("the request of `{}` cannot hold what `{}` reads", write.name, model.read(*read).name);
            let finding = Diagnostic::error(RULE.code, part.span, message);
            Some(finding.label("read before the request").help("use a guard for what must be held"))
        }
        _ => None,
    }
}
