//! P07: nothing uses a parameter.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Action, Expr, Parameter, PathStep, Write, WriteStep};
use keyform_language::schema::{Let, LetSource};
use keyform_language::scope::judge;

pub(super) static RULE: Rule = Rule {
    code: Code("P07"),
    severity: Severity::Error,
    title: "nothing uses a parameter",
    page: include_str!("../../../../../docs/rules/P07.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in context.model.writes.iter().filter(|write| is_resolved(context, write)) {
        let used = used(write);
        let is_idle = |(number, parameter): &(usize, &Parameter)| {
            !used.contains(number) && !parameter.is_unknown() && !is_hidden(context, write, parameter)
        };
        for (_, parameter) in write.parameters.iter().enumerate().filter(is_idle) {
            let message = format!("`{}` takes `{}` and does nothing with it", write.name, parameter.field_name);
            let finding = Diagnostic::error(RULE.code, parameter.span, message);
            findings.push(finding.help("remove it, or use it in a step, a condition or `allow`"));
        }
    }
}

pub(super) fn is_resolved(context: &Context<'_>, write: &Write) -> bool {
    let resolves = |action: &Action| action.entity.is_some_and(|id| judge::is_resolved(context.model, id, action));
    write.actions().into_iter().all(resolves)
}

/// Returns true if a condition names a field where the author may have meant the parameter, which W17 reports.
fn is_hidden(context: &Context<'_>, write: &Write, parameter: &Parameter) -> bool {
    write.actions().into_iter().any(|action| {
        let field = action.entity.and_then(|id| context.model.entity(id).field_named(&parameter.field_name));
        field.is_some_and(|field| action.tests(field))
    })
}

/// Returns the parameters with a role in a write, by index.
fn used(write: &Write) -> Vec<usize> {
    let mut used = write.allow.as_ref().map(keyform_language::schema::Permission::parameters).unwrap_or_default();
    used.extend(used_by_steps(write));
    used
}

/// Returns the parameters that the reads, conditions and steps of a write use, by index.
pub(super) fn used_by_steps(write: &Write) -> Vec<usize> {
    let mut used = Vec::new();
    let mut visit = |expr: &Expr| used.extend(expr.parameters());
    write.lets.iter().flat_map(exprs).for_each(&mut visit);
    write.requires.iter().for_each(|require| visit(&require.condition));
    for action in write.actions() {
        action.keys.iter().for_each(|(_, value)| visit(value));
        action.equalities.iter().for_each(|equality| visit(&equality.value));
        action.conditions.iter().for_each(|condition| visit(&condition.condition));
        for change in &action.changes {
            change.value().into_iter().for_each(&mut visit);
            change.path().iter().for_each(|step| match step {
                PathStep::Element(key) => visit(key),
                PathStep::Member(_) => {}
            });
        }
    }
    lists(&write.steps, &mut visit);
    used
}

fn exprs(it: &Let) -> &[Expr] {
    match &it.source {
        LetSource::Read { arguments, .. } => arguments,
        LetSource::Value(value) => std::slice::from_ref(value),
        LetSource::Unknown => &[],
    }
}

fn lists(steps: &[WriteStep], visit: &mut dyn FnMut(&Expr)) {
    for step in steps {
        if let WriteStep::For(each) = step {
            visit(&each.list);
            lists(&each.steps, visit);
        }
    }
}
