//! W31: conditions exclude each other, so that the pattern never succeeds.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{Action, Expr, ExprKind, Model, Parameter, Permission, Write};

use super::satisfy::{Placed, can_hold};
use super::subject::Place;

pub(super) static RULE: Rule = Rule {
    code: Code("W31"),
    severity: Severity::Error,
    title: "conditions exclude each other",
    page: include_str!("../../../../../docs/rules/W31.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for guard in &model.guards {
        let place = Place::of_pattern(model, &guard.parameters);
        findings.extend(guard.condition.as_ref().and_then(|condition| {
            first(model, &[], &[(condition, &place)], &format!("the guard `{}` never holds", guard.name))
        }));
    }
    for read in &model.reads {
        let filter = read.filter.as_ref();
        let message = format!("the filter of `{}` never holds", read.name);
        findings.extend(alone(model, &read.parameters, filter, &message));
        let allow = read.allow.as_ref().and_then(Permission::condition);
        findings.extend(alone(model, &read.parameters, allow, &format!("`{}` is allowed to no caller", read.name)));
    }
    for write in &model.writes {
        in_write(model, write, findings);
    }
}

fn alone(model: &Model, parameters: &[Parameter], condition: Option<&Expr>, message: &str) -> Option<Diagnostic> {
    let place = Place::of_pattern(model, parameters);
    first(model, &[], &[(condition?, &place)], message)
}

fn in_write(model: &Model, write: &Write, findings: &mut Vec<Diagnostic>) {
    let place = Place::of_write(model, write);
    let allow = write.allow.as_ref().and_then(Permission::condition);
    let requires = write.requires.iter().map(|require| &require.condition);
    let before: Vec<Placed<'_>> = allow.into_iter().chain(requires).map(|condition| (condition, &place)).collect();
    let message = format!("`{}` never succeeds: its conditions exclude each other", write.name);
    if let Some(finding) = first(model, &[], &before, &message) {
        findings.push(finding);
        return;
    }
    for action in write.actions() {
        findings.extend(in_action(model, write, action, &before, &message));
    }
}

fn in_action(
    model: &Model,
    write: &Write,
    action: &Action,
    before: &[Placed<'_>],
    message: &str,
) -> Option<Diagnostic> {
    let place = Place::of_action(model, write, action);
    let conditions: Vec<Placed<'_>> =
        action.conditions.iter().map(|condition| (&condition.condition, &place)).collect();
    first(model, before, &conditions, message)
}

/// Limit of the parts of all conditions of a step. Longer conditions, which no author writes, are not analysed, so that
/// the time of a check stays linear.
const PARTS_MAX: usize = 512;

fn is_short(conditions: &[Placed<'_>]) -> bool {
    let mut parts = 0;
    conditions.iter().for_each(|(condition, _)| condition.walk(&mut |_| parts += 1));
    parts <= PARTS_MAX
}

/// Reports the first condition that cannot hold together with those before it, or an alternative that never holds.
fn first(model: &Model, before: &[Placed<'_>], conditions: &[Placed<'_>], message: &str) -> Option<Diagnostic> {
    let all = [before, conditions].concat();
    if conditions.is_empty() || !is_short(&all) {
        return None;
    }
    if can_hold(model, &all) {
        return conditions.iter().find_map(|condition| dead_alternative(model, *condition));
    }
    let number = (before.len()..all.len()).find(|number| !can_hold(model, &all[..=*number]))?;
    let (last, place) = all[number];
    let finding = Diagnostic::error(RULE.code, last.span, message)
        .help("use `or` or `in (…)` if one of them is enough, or remove the one that is wrong");
    if !can_hold(model, &[(last, place)]) {
        return Some(finding.label("never true"));
    }
    let other = all[..number].iter().find(|other| !can_hold(model, &[**other, (last, place)]));
    let finding = finding.label("never true together with the conditions before it");
    Some(match other {
        Some((other, _)) => finding.also(other.span, "this must hold, too"),
        None => finding,
    })
}

/// Reports an operand of `or` that never holds by itself.
fn dead_alternative(model: &Model, (condition, place): Placed<'_>) -> Option<Diagnostic> {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right) => {
            let is_or = matches!(condition.kind, ExprKind::Binary(BinaryOp::Or, ..));
            [left, right].into_iter().find_map(|side| {
                if is_or && !can_hold(model, &[(side, place)]) {
                    return Some(
                        Diagnostic::warning(RULE.code, side.span, "this alternative never holds")
                            .label("its conditions exclude each other")
                            .help("remove the alternative, or correct it"),
                    );
                }
                dead_alternative(model, (side, place))
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::Checked;

    /// Returns whether the rule reports a write with these conditions.
    fn is_reported(conditions: &str) -> bool {
        let text = format!(
            r#"model m
            caller orgId: slug, userId: slug, level: int(0..5)
            table T "table" {{ key pk, sk }}
            entity Member in T {{
              key "ORG#{{orgId}}", "M#{{userId}}"
              orgId: slug  userId: slug  role: "owner" | "clerk" | "guest"  left: int(0..10) = 0  name: string?  on: bool
            }}
            guard owner(orgId) = exists Member(orgId, caller.userId) where role = "owner"
            read member(orgId, userId) -> Member? strong allow system
            write w(orgId, given: int) {{ {conditions} }}"#
        );
        let checked = Checked::read(&text);
        let syntax = checked.diagnostics.iter().find(|finding| finding.code.0.starts_with(['S', 'N']));
        assert!(syntax.is_none(), "{conditions}: {syntax:?}");
        checked.diagnostics.iter().any(|finding| finding.code.0 == "W31")
    }

    #[test]
    fn conditions_that_exclude_each_other_are_reported() {
        let step = "allow system  update Member(orgId, \"a\") { left = 0 }";
        for condition in [
            r#"if role = "owner" if role = "clerk""#,
            r#"if role in ("owner", "clerk") and role = "guest""#,
            r#"if role != "owner" and role != "clerk" and role != "guest" and role is some"#,
            r#"if not (role = "owner" or role = "clerk") if role in ("owner", "clerk")"#,
            "if left > 3 and left < 3",
            "if left > 10",
            "if left = 11",
            "if left between 8 and 4",
            "if left > given and left <= given",
            r#"if not name is some and name = "x""#,
            "if on = true and on = false",
            r#"if absent and role = "owner""#,
            r#"if role = "owner" or left < 0"#,
        ] {
            assert!(is_reported(&format!("{step} {condition}")), "{condition}");
        }
        for write in [
            r#"allow caller.level > 3 and caller.level < 2  update Member(orgId, "a") { left = 0 }"#,
            r#"allow owner(orgId)  update Member(orgId, caller.userId) { left = 0 } if role = "clerk""#,
            r#"allow system  let m = member(orgId, "a") else None  require m.role = "owner" else No
               update Member(orgId, "a") { left = 0 } if role = "clerk""#,
        ] {
            assert!(is_reported(write), "{write}");
        }
    }

    #[test]
    fn conditions_that_can_hold_are_not_reported() {
        let step = "allow system  update Member(orgId, \"a\") { left = 0 }";
        for condition in [
            r#"if role = "owner" or role = "clerk""#,
            r#"if role != "owner" and role != "clerk""#,
            r#"if role != "owner" and role != "clerk" and role != "guest""#,
            "if left >= 3 and left <= 3",
            "if left > given or left < given",
            "if left >= given and left <= given",
            "if left < 10 - given and left > given",
            r#"if not name is some or name = "x""#,
            r#"if absent or role = "owner""#,
            r#"if not (left > 3) and left < 5"#,
        ] {
            assert!(!is_reported(&format!("{step} {condition}")), "{condition}");
        }
        for write in [
            r#"allow owner(orgId)  update Member(orgId, "other") { left = 0 } if role = "clerk""#,
            r#"allow owner(orgId) or caller.level = 5  update Member(orgId, caller.userId) { left = 0 } if role = "clerk""#,
            r#"allow system  let m = member(orgId, "b") else None  require m.role = "owner" else No
               update Member(orgId, "a") { left = 0 } if role = "clerk""#,
        ] {
            assert!(!is_reported(write), "{write}");
        }
    }
}
