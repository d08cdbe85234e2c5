//! P02: a caller chooses what a guard grants.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Guard, Write};
use keyform_language::scope::Domains;
use keyform_language::scope::judge::{self, Authority, Unbound};

use super::leak;

pub(super) static RULE: Rule = Rule {
    code: Code("P02"),
    severity: Severity::Error,
    title: "a caller chooses what a guard grants",
    page: include_str!("../../../../../docs/rules/P02.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if context.model.caller.is_none() {
        return;
    }
    let domains = Domains::of(context.model);
    for write in &context.model.writes {
        let judged = judge::write(context.model, context.plans, &domains, write);
        findings.extend(judged.unbound.iter().filter_map(|it| finding(context, &domains, write, it, it.authority?)));
    }
}

fn finding(
    context: &Context<'_>,
    domains: &Domains<'_>,
    write: &Write,
    unbound: &Unbound,
    authority: Authority,
) -> Option<Diagnostic> {
    let entity = context.model.entity(unbound.entity);
    let (field, why) = match authority {
        Authority::Scope(field) => (field, "nothing in `allow` authorises this value"),
        Authority::Right(field) => (field, "the guards of `allow` do not demand as much as this value may grant"),
        Authority::Grant(field) => (field, "nothing in `allow` authorises what the new value grants"),
    };
    let name = &entity.field(field).name;
    let guard = context.model.guards.iter().find(|guard| reads(guard, unbound, authority));
    let (use_of, span, word) = match (authority, guard) {
        (Authority::Grant(_), _) => ("which has `grants`".to_owned(), entity.field(field).name_span, "`grants`"),
        (_, Some(guard)) => (format!("by which the guard `{}` decides", guard.name), guard.span, "the guard"),
        (_, None) => return None,
    };
    let message = format!("callers of `{}` choose `{}.{name}`, {use_of}", write.name, entity.name);
    let mut finding = Diagnostic::error(RULE.code, unbound.span, message).label(why).also(span, word);
    let scope = write.allow.as_ref().map(keyform_language::schema::Permission::parameters).unwrap_or_default();
    for note in leak::shown(context.model, domains, &write.name, &write.parameters, &scope, unbound) {
        finding = finding.note(note);
    }
    Some(finding.help(match authority {
        Authority::Scope(_) | Authority::Grant(_) => {
            format!("let `allow` name the value of `{name}`, for example with a guard on it")
        }
        Authority::Right(_) => {
            format!("set `{name}` to a literal, narrow the type of the parameter, or demand more in `allow`")
        }
    }))
}

fn reads(guard: &Guard, unbound: &Unbound, authority: Authority) -> bool {
    let uses = match authority {
        Authority::Scope(field) => {
            guard.keys.iter().any(|(key, value)| *key == field && !value.parameters().is_empty())
        }
        Authority::Right(field) => guard.condition.iter().any(|condition| condition.own_fields().contains(&field)),
        Authority::Grant(_) => false,
    };
    guard.entity == Some(unbound.entity) && uses
}
