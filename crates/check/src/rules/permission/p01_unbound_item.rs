//! P01: a pattern reaches items outside the scope that its `allow` authorises.

use crate::allow;
use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::schema::{Action, Parameter, Permission, ReadId, Unscoped};
use keyform_language::scope::Domains;
use keyform_language::scope::judge::{self, Act, Judged, Unbound};
use keyform_language::span::Span;

use super::leak;

pub(super) static RULE: Rule = Rule {
    code: Code("P01"),
    severity: Severity::Error,
    title: "a pattern reaches items outside the caller's scope",
    page: include_str!("../../../../../docs/rules/P01.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    if context.model.caller.is_none() {
        return;
    }
    let domains = Domains::of(context.model);
    for (number, read) in context.model.reads.iter().enumerate() {
        let judged = judge::read(context.model, context.plans, &domains, ReadId(number));
        let pattern =
            Pattern { name: &read.name, parameters: &read.parameters, allow: read.allow.as_ref(), domains: &domains };
        pattern.report(context, &judged, &read.unscoped, findings);
    }
    for write in &context.model.writes {
        let judged = judge::write(context.model, context.plans, &domains, write);
        let pattern = Pattern {
            name: &write.name,
            parameters: &write.parameters,
            allow: write.allow.as_ref(),
            domains: &domains,
        };
        pattern.report(context, &judged, &write.unscoped, findings);
        if write.batch.is_some() {
            findings.extend(write.actions().into_iter().filter_map(unverified));
        }
    }
}

/// Reports a comparison that a batch, which has no conditions, cannot make.
fn unverified(action: &Action) -> Option<Diagnostic> {
    let written = action.equalities.iter().find(|equality| equality.written)?;
    let message = "a batch has no conditions, so it cannot compare a field of the stored item";
    Some(Diagnostic::error(RULE.code, written.value.span, message).help("remove `batch`, or name only the key"))
}

struct Pattern<'a> {
    name: &'a str,
    parameters: &'a [Parameter],
    allow: Option<&'a Permission>,
    domains: &'a Domains<'a>,
}

impl Pattern<'_> {
    fn report(&self, context: &Context<'_>, judged: &Judged, unscoped: &[Unscoped], findings: &mut Vec<Diagnostic>) {
        let unbound = judged.unbound.iter().filter(|it| it.authority.is_none());
        findings.extend(unbound.map(|it| self.finding(context, it)));
        for &number in &judged.needless {
            let message = "this `unscoped` has no effect: the items are in the caller's scope";
            let finding = Diagnostic::warning(allow::UNUSED, unscoped[number].span, message);
            findings.push(finding.help("remove it: it would hide a later finding"));
        }
    }

    fn finding(&self, context: &Context<'_>, unbound: &Unbound) -> Diagnostic {
        let entity = &context.model.entity(unbound.entity).name;
        let message = format!("`{}` {} `{entity}` items of any scope", self.name, act(unbound.act));
        let mut finding = Diagnostic::error(RULE.code, unbound.span, message)
            .label(format!("no field of `{entity}` is tied to a value that `allow` authorises"));
        if let Some(span) = self.permission() {
            finding = finding.also(span, "the permission");
        }
        let scope = self.allow.map(Permission::parameters).unwrap_or_default();
        for note in leak::shown(context.model, self.domains, self.name, self.parameters, &scope, unbound) {
            finding = finding.note(note);
        }
        finding.help(help(entity, unbound.act))
    }

    fn permission(&self) -> Option<Span> {
        match self.allow? {
            Permission::Public(span) | Permission::System(span) => Some(*span),
            Permission::When(condition) => Some(condition.span),
        }
    }
}

const fn act(act: Act) -> &'static str {
    match act {
        Act::Read => "returns",
        Act::Step(Verb::Create) => "creates",
        Act::Step(Verb::Put) => "puts",
        Act::Step(Verb::Update | Verb::Upsert) => "changes",
        Act::Step(Verb::Delete) => "deletes",
        Act::Step(Verb::Check) => "checks",
        Act::Cascade => "cascades to",
    }
}

fn help(entity: &str, act: Act) -> String {
    let tie = match act {
        Act::Read => format!("take a parameter that `allow` names and `{entity}` has as a field"),
        Act::Step(Verb::Create) => format!("set a field of `{entity}` to a claim or to a value that `allow` names"),
        Act::Cascade => return "add `if exists else OUTCOME`: the item of this scope must exist".to_owned(),
        Act::Step(_) => {
            format!("name a field in the item, as in `{entity}(…, field: value)`, whose value `allow` names")
        }
    };
    format!("{tie}; or, if these items are for every caller, write `unscoped {entity} \"reason\"`")
}
