//! P12: a step addresses an item by one value and is limited to another.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Action, Equality, Expr, Write};

pub(super) static RULE: Rule = Rule {
    code: Code("P12"),
    severity: Severity::Warning,
    title: "a step addresses an item by a value that `allow` does not authorise",
    page: include_str!("../../../../../docs/rules/P12.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for write in &context.model.writes {
        for action in write.actions() {
            findings.extend(action.equalities.iter().filter_map(|it| finding(context, write, action, it)));
        }
    }
}

/// Returns the value of a key field that a step compares with another value as well.
fn addressed<'a>(action: &'a Action, equality: &Equality) -> Option<&'a Expr> {
    let key = action.keys.iter().find(|(field, _)| *field == equality.field).map(|(_, value)| value)?;
    (!equality.written && !key.same(&equality.value)).then_some(key)
}

fn finding(context: &Context<'_>, write: &Write, action: &Action, equality: &Equality) -> Option<Diagnostic> {
    let key = addressed(action, equality)?;
    let entity = context.model.entity(action.entity?);
    let name = &entity.field(equality.field).name;
    let message =
        format!("`{}` addresses a {} by another `{name}` than the one that `allow` names", write.name, entity.name);
    let finding = Diagnostic::warning(RULE.code, key.span, message)
        .label(format!("the step finds no item unless this equals `{name}`"));
    Some(finding.help(format!("pass `{name}` in the key, or let `allow` name this value as well")))
}
