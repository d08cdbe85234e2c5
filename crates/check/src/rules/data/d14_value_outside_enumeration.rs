//! D14: a parameter allows values that its field never has.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{EntityId, Expr, ExprKind, Field, Model, Origin, Parameter, Test, Type, ValuePath};

use super::comparison::comparisons;
use super::site::sites;

pub(super) static RULE: Rule = Rule {
    code: Code("D14"),
    severity: Severity::Error,
    title: "a parameter allows values that its field never has",
    page: include_str!("../../../../../docs/rules/D14.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for read in &context.model.reads {
        let entities = read.result.entities();
        for parameter in read.parameters.iter().filter(|it| matches!(it.test, Test::Equal | Test::In)) {
            let field = field_named(context.model, &entities, &parameter.field_name);
            findings.extend(field.and_then(|field| judge(parameter, field)));
        }
    }
    for compared in comparisons(context) {
        if !matches!(compared.op, BinaryOp::Equal | BinaryOp::NotEqual) {
            continue;
        }
        for (one, other) in [(compared.left, compared.right), (compared.right, compared.left)] {
            let field = compared.names.source(other).map(|(entity, field)| context.model.entity(entity).field(field));
            let parameter = parameter(one, compared.names.parameters);
            findings.extend(parameter.zip(field).and_then(|(parameter, field)| judge(parameter, field)));
        }
    }
    for site in sites(context) {
        for (change, _, field) in site.changes().filter(|(change, _, _)| change.path().is_empty()) {
            let parameter = change.value().and_then(|value| parameter(value, &site.write.parameters));
            findings.extend(parameter.and_then(|parameter| judge(parameter, field)));
        }
    }
}

fn field_named<'a>(model: &'a Model, entities: &[EntityId], name: &str) -> Option<&'a Field> {
    entities.iter().find_map(|&id| {
        let entity = model.entity(id);
        entity.field_named(name).map(|field| entity.field(field))
    })
}

fn parameter<'a>(expr: &Expr, parameters: &'a [Parameter]) -> Option<&'a Parameter> {
    match &expr.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path }) if path.is_empty() => {
            parameters.get(*number)
        }
        _ => None,
    }
}

fn judge(parameter: &Parameter, field: &Field) -> Option<Diagnostic> {
    let (Type::OneOf(given), Type::OneOf(known)) = (element(&parameter.kind), element(&field.kind)) else {
        return None;
    };
    let foreign: Vec<String> =
        given.iter().filter(|text| !known.contains(text)).map(|text| format!("\"{text}\"")).collect();
    if !parameter.declared || foreign.is_empty() {
        return None;
    }
    let name = parameter.arguments.first().unwrap_or(&parameter.field_name);
    let message = format!("`{name}` may be {}, which `{}` never is", foreign.join(" or "), field.name);
    let list = known.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(" | ");
    Some(
        Diagnostic::error(RULE.code, parameter.span, message)
            .also(field.type_span, "its values")
            .help(format!("allow only values of the field: `{name}: {list}`, or fewer")),
    )
}

/// Returns the type of one value: that of an element for a list or set.
fn element(kind: &Type) -> &Type {
    match kind.resolved() {
        Type::List(of, _) | Type::Set(of, _) => of.resolved(),
        other => other,
    }
}
