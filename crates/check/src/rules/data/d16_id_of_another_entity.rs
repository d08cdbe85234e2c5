//! D16: the id of one entity stands where the id of another belongs.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{
    Entity, EntityId, Expr, ExprKind, Field, FieldId, Guard, LetSource, Model, Origin, Permission, ValuePath,
};
use keyform_language::scope::{Domain, Domains};
use keyform_language::span::Span;

use super::comparison::{Names, comparisons};
use super::site::sites;

pub(super) static RULE: Rule = Rule {
    code: Code("D16"),
    severity: Severity::Error,
    title: "an id of one entity stands for another entity",
    page: include_str!("../../../../../docs/rules/D16.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    let ids = Ids { model, domains: Domains::of(model) };
    for compared in comparisons(context).iter().filter(|it| matches!(it.op, BinaryOp::Equal | BinaryOp::NotEqual)) {
        let sides = compared.names.source(compared.left).zip(compared.names.source(compared.right));
        findings.extend(sides.and_then(|(left, right)| ids.judge(left, right, compared.right.span)));
    }
    for (names, target, value) in arguments(model) {
        let source = names.source(value);
        findings.extend(source.and_then(|source| ids.judge(target, source, value.span)));
    }
    for site in sites(context) {
        let names = Names { model, parameters: &site.write.parameters, lets: &site.write.lets };
        let set = site.changes().filter_map(|(change, id, _)| Some((id, change.value()?, change.written)));
        let keys = site.action.keys.iter().map(|(id, value)| (*id, value, true));
        let all: Vec<(FieldId, &Expr, bool)> = set.chain(keys).collect();
        for (field, value, _) in all.into_iter().filter(|(_, _, written)| *written) {
            let source = names.source(value);
            findings.extend(source.and_then(|source| ids.judge((site.id, field), source, value.span)));
        }
    }
}

/// Returns the arguments of guards and of reads in `let`, with the field that each is compared with.
fn arguments(model: &Model) -> Vec<(Names<'_>, (EntityId, FieldId), &Expr)> {
    let mut found = Vec::new();
    let reads = model.reads.iter().map(|read| (read.allow.as_ref(), read.parameters.as_slice(), [].as_slice()));
    let writes = model.writes.iter().map(|it| (it.allow.as_ref(), it.parameters.as_slice(), it.lets.as_slice()));
    for (allow, parameters, lets) in reads.chain(writes) {
        let names = Names { model, parameters, lets };
        if let Some(condition) = allow.and_then(Permission::condition) {
            condition.walk(&mut |part| {
                if let ExprKind::Guard { guard, arguments } = &part.kind {
                    let fields = guard_fields(&model.guards[guard.0]);
                    let pairs = fields.into_iter().filter_map(|(number, field)| Some((field, arguments.get(number)?)));
                    found.extend(pairs.map(|(field, value)| (names, field, value)));
                }
            });
        }
        for binding in lets {
            if let LetSource::Read { read, arguments } = &binding.source {
                let of = &model.read(*read).parameters;
                let fields = of.iter().flat_map(|parameter| parameter.arguments.iter().map(|_| parameter.field));
                let pairs = fields.zip(arguments).filter_map(|(field, value)| Some((field?, value)));
                found.extend(pairs.map(|(field, value)| (names, field, value)));
            }
        }
    }
    found
}

/// Returns the key fields that a guard fills with its parameters, by the parameter's index.
fn guard_fields(guard: &Guard) -> Vec<(usize, (EntityId, FieldId))> {
    let Some(entity) = guard.entity else { return Vec::new() };
    let filled = guard.keys.iter().filter_map(|(field, value)| match &value.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path }) if path.is_empty() => {
            Some((*number, (entity, *field)))
        }
        _ => None,
    });
    filled.collect()
}

struct Ids<'a> {
    model: &'a Model,
    domains: Domains<'a>,
}

impl Ids<'_> {
    fn judge(&self, target: (EntityId, FieldId), source: (EntityId, FieldId), span: Span) -> Option<Diagnostic> {
        let (Domain::Entity(wanted), Domain::Entity(given)) =
            (self.domains.field(target.0, target.1)?, self.domains.field(source.0, source.1)?)
        else {
            return None;
        };
        let (wanted, given) = (self.model.entity(wanted), self.model.entity(given));
        if wanted.name == given.name || is_companion(wanted, given) || is_companion(given, wanted) {
            return None;
        }
        let field = self.model.entity(target.0).field(target.1);
        Some(finding(field, wanted, given, span))
    }
}

/// Returns true if the id of one entity is the id of another: `"USER#{userId}", "SETTINGS"` beside `"USER#{userId}"`.
fn is_companion(one: &Entity, other: &Entity) -> bool {
    let name = |entity: &Entity| entity.id_field().map(|id| entity.field(id).name.clone());
    name(one) == name(other)
}

fn finding(field: &Field, wanted: &Entity, given: &Entity, span: Span) -> Diagnostic {
    let message = format!("`{}` is an id of {}, and this is an id of {}", field.name, wanted.name, given.name);
    Diagnostic::error(RULE.code, span, message)
        .label(format!("identifies an item of {}", given.name))
        .also(field.name_span, format!("identifies an item of {}", wanted.name))
        .help(format!("use a value that identifies an item of {}", wanted.name))
}
