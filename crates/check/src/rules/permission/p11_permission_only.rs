//! P11: an argument of a guard has no relation to the items that the pattern touches.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::plan::Filter;
use keyform_language::schema::{Expr, ExprKind, Guard, Origin, Parameter, Permission, Read, ReadId, ValuePath};
use keyform_language::scope::{Domains, judge};

use super::p07_idle_parameter;

pub(super) static RULE: Rule = Rule {
    code: Code("P11"),
    severity: Severity::Warning,
    title: "an argument of a guard does not limit the items",
    page: include_str!("../../../../../docs/rules/P11.md"),
    find,
};

/// Patterns that reach items of any scope are P01 already.
fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let domains = Domains::of(context.model);
    for (number, read) in context.model.reads.iter().enumerate().filter(|(_, read)| read.unscoped.is_empty()) {
        let used = used_by_read(context, ReadId(number), read);
        let idle = idle(context, &read.name, read.allow.as_ref(), &read.parameters, &used);
        if !idle.is_empty() && judge::read(context.model, context.plans, &domains, ReadId(number)).unbound.is_empty() {
            findings.extend(idle);
        }
    }
    let resolved = context.model.writes.iter().filter(|write| p07_idle_parameter::is_resolved(context, write));
    for write in resolved.filter(|write| write.unscoped.is_empty()) {
        let used = p07_idle_parameter::used_by_steps(write);
        let idle = idle(context, &write.name, write.allow.as_ref(), &write.parameters, &used);
        if !idle.is_empty() && judge::write(context.model, context.plans, &domains, write).unbound.is_empty() {
            findings.extend(idle);
        }
    }
}

/// Returns the parameters that the request of a read uses, by index.
fn used_by_read(context: &Context<'_>, id: ReadId, read: &Read) -> Vec<usize> {
    let Some(plan) = context.plans.read(id) else { return (0..read.parameters.len()).collect() };
    let entities = read.result.entities();
    let is_field = |parameter: &Parameter| {
        entities.iter().any(|&entity| context.model.entity(entity).field_named(&parameter.field_name).is_some())
    };
    let filtered = |number: usize| plan.filters.iter().any(|it| matches!(it, Filter::Parameter(of) if *of == number));
    let in_filter = read.filter.as_ref().map(Expr::parameters).unwrap_or_default();
    let is_used = |(number, parameter): &(usize, &Parameter)| {
        is_field(parameter) || filtered(*number) || in_filter.contains(number) || read.key.is_some()
    };
    read.parameters.iter().enumerate().filter(is_used).map(|(number, _)| number).collect()
}

/// Returns a finding for each parameter that only a guard of `allow` uses.
fn idle(
    context: &Context<'_>,
    name: &str,
    allow: Option<&Permission>,
    parameters: &[Parameter],
    used: &[usize],
) -> Vec<Diagnostic> {
    let Some(condition) = allow.and_then(Permission::condition) else { return Vec::new() };
    let mut findings = Vec::new();
    condition.walk(&mut |part| {
        let ExprKind::Guard { guard, arguments } = &part.kind else { return };
        let guard = &context.model.guards[guard.0];
        for argument in arguments {
            let ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), .. }) = &argument.kind else {
                continue;
            };
            // A value that `allow` compares with something else is not free.
            if !used.contains(number) && !is_compared(condition, *number) {
                findings.extend(parameters.get(*number).map(|parameter| finding(name, guard, argument, parameter)));
            }
        }
    });
    findings
}

fn is_compared(condition: &Expr, number: usize) -> bool {
    let mut found = false;
    condition.walk(&mut |part| {
        let is_comparison =
            matches!(part.kind, ExprKind::Binary(op, ..) if !matches!(op, BinaryOp::And | BinaryOp::Or));
        let reads = matches!(part.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Read { .. }, .. }));
        found |= (is_comparison || reads) && part.parameters().contains(&number);
    });
    found
}

fn finding(name: &str, guard: &Guard, argument: &Expr, parameter: &Parameter) -> Diagnostic {
    let given = &parameter.field_name;
    let message = format!("`{name}` uses `{given}` only to pass the guard `{}`", guard.name);
    Diagnostic::warning(RULE.code, argument.span, message)
        .label("a caller names a value for which the guard holds, and reaches other items")
        .also(parameter.span, "no step and no key uses it")
        .help(format!("pass the value that the items have, or compare `{given}` with a field of the items"))
}
