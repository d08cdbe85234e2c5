//! P13: the argument of a guard identifies something else.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{
    EntityId, Expr, ExprKind, FieldId, GuardId, Let, Origin, Parameter, Permission, Type, ValuePath, words,
};
use keyform_language::scope::{Domain, Domains};

pub(super) static RULE: Rule = Rule {
    code: Code("P13"),
    severity: Severity::Error,
    title: "the argument of a guard identifies something else",
    page: include_str!("../../../../../docs/rules/P13.md"),
    find,
};

/// What is known about a value: its type, and what it identifies.
struct Meaning<'a> {
    kind: &'a Type,
    domain: Option<Domain>,
}

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let domains = Domains::of(context.model);
    for read in &context.model.reads {
        let pattern = Pattern { context, domains: &domains, parameters: &read.parameters, lets: &[] };
        pattern.report(read.allow.as_ref(), findings);
    }
    for write in &context.model.writes {
        let pattern = Pattern { context, domains: &domains, parameters: &write.parameters, lets: &write.lets };
        pattern.report(write.allow.as_ref(), findings);
    }
}

struct Pattern<'a> {
    context: &'a Context<'a>,
    domains: &'a Domains<'a>,
    parameters: &'a [Parameter],
    lets: &'a [Let],
}

impl Pattern<'_> {
    fn report(&self, allow: Option<&Permission>, findings: &mut Vec<Diagnostic>) {
        let Some(condition) = allow.and_then(Permission::condition) else { return };
        condition.walk(&mut |part| {
            let ExprKind::Guard { guard, arguments } = &part.kind else { return };
            let each = arguments.iter().enumerate();
            findings.extend(each.filter_map(|(number, argument)| self.mismatch(*guard, number, argument)));
        });
    }

    fn mismatch(&self, guard: GuardId, number: usize, argument: &Expr) -> Option<Diagnostic> {
        let called = &self.context.model.guards[guard.0];
        let is_it = |value: &Expr| matches!(&value.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(of), .. }) if *of == number);
        let (field, _) = called.keys.iter().find(|(_, value)| is_it(value))?;
        let wanted = self.of_field(called.entity?, *field);
        let given = self.meaning(argument)?;
        let is_known = |kind: &Type| !matches!(kind.resolved(), Type::Unknown);
        let is_kind = given.kind.resolved().is_same_kind(wanted.kind.resolved());
        let identified = |domain: &Option<Domain>| match domain {
            Some(Domain::Entity(entity)) => Some(self.context.model.entity(*entity).name.clone()),
            Some(Domain::Named(..)) | None => None,
        };
        let (has, needs) = match (identified(&given.domain), identified(&wanted.domain)) {
            (Some(has), Some(needs)) if has != needs => (format!("identifies `{has}`"), format!("a `{needs}`")),
            _ if !is_kind && is_known(given.kind) && is_known(wanted.kind) => {
                (format!("is {}", words::described(given.kind.resolved())), words::described(wanted.kind.resolved()))
            }
            _ => return None,
        };
        let message = format!("the argument of `{}` {has}, and the guard looks for {needs}", called.name);
        let finding =
            Diagnostic::error(RULE.code, argument.span, message).label("the guard finds no item, or an unrelated one");
        Some(finding.also(called.span, "the guard").help("pass the value that the key of the guard's item has"))
    }

    fn of_field(&self, entity: EntityId, field: FieldId) -> Meaning<'_> {
        let kind = &self.context.model.entity(entity).field(field).kind;
        Meaning { kind, domain: self.domains.field(entity, field) }
    }

    fn meaning(&self, argument: &Expr) -> Option<Meaning<'_>> {
        let ExprKind::ValuePath(ValuePath { origin, path }) = &argument.kind else { return None };
        if !path.is_empty() {
            return None;
        }
        match origin {
            Origin::Parameter(number) => {
                let parameter = self.parameters.get(*number)?;
                let domain = parameter.field.and_then(|(entity, field)| self.domains.field(entity, field));
                Some(Meaning { kind: &parameter.kind, domain })
            }
            Origin::Let { number, entity: Some(entity), field: Some(field) } if *number < self.lets.len() => {
                Some(self.of_field(*entity, *field))
            }
            Origin::Read { read, field: Some(field), .. } => {
                let entity = *self.context.model.read(*read).result.entities().first()?;
                Some(self.of_field(entity, *field))
            }
            Origin::Field(..) | Origin::Let { .. } | Origin::Caller(_) | Origin::Element(_) | Origin::Read { .. } => {
                None
            }
        }
    }
}
