//! Resolves parameters: fields of the pattern's entities, parameters with a declared type, or parameters whose type
//! follows from their use.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, Name, Test as AstTest};
use crate::schema::expression::{Expr, ExprKind, Origin, ValuePath};
use crate::schema::field::Type;
use crate::schema::pattern::{Parameter, Test};
use crate::schema::{Entity, EntityId, FieldId, Model};

use super::code;
use super::found::{Found, nearest};
use super::names::twice;
use super::types::Types;

/// Resolves the parameters of a pattern on these entities.
pub(super) fn resolve(
    types: &Types<'_>,
    parameters: &[ast::Parameter],
    entities: &[EntityId],
    mentioned: &[String],
    found: &mut Found,
) -> Vec<Parameter> {
    repeated(parameters, found);
    let mut resolved: Vec<Parameter> =
        parameters.iter().map(|parameter| one(types, parameter, entities, found)).collect();
    for number in 0..resolved.len() {
        let unused = !resolved[number].arguments.iter().any(|argument| mentioned.contains(argument));
        if unused && resolved[number].is_unknown() {
            misspelt(types, parameters, &mut resolved, number, entities, found);
        }
    }
    resolved
}

/// Corrects a parameter that nothing mentions and that resembles a field no other parameter gives.
fn misspelt(
    types: &Types<'_>,
    written: &[ast::Parameter],
    parameters: &mut [Parameter],
    number: usize,
    entities: &[EntityId],
    found: &mut Found,
) {
    let given = |name: &str| parameters.iter().any(|parameter| parameter.field_name == name);
    let fields = entities.iter().flat_map(|id| &types.entities[id.0].fields).map(|field| field.name.as_str());
    let free: Vec<&str> = fields.filter(|name| !given(name)).collect();
    if nearest(&written[number].field.text, &free).is_some() {
        report_untyped(types.entities, &written[number], &mut parameters[number], &free, entities, found);
    }
}

fn one(types: &Types<'_>, it: &ast::Parameter, entities: &[EntityId], found: &mut Found) -> Parameter {
    let field = entities.iter().find_map(|id| Some((*id, types.entities[id.0].field_named(&it.field.text)?)));
    let declared = it.kind.as_ref().map(|kind| types.convert(kind, found));
    let of_field = |(entity, field): (EntityId, FieldId)| types.entities[entity.0].field(field).kind.clone();
    Parameter {
        field_name: it.field.text.clone(),
        arguments: arguments(it).into_iter().map(|name| name.text.clone()).collect(),
        test: test(&it.test),
        field,
        declared: declared.is_some(),
        optional: it.kind.as_ref().is_some_and(|kind| kind.optional || kind.null),
        kind: declared.or_else(|| field.map(of_field)).unwrap_or(Type::Unknown),
        span: it.span,
    }
}

/// Returns the argument names a caller passes.
fn arguments(it: &ast::Parameter) -> Vec<&Name> {
    match &it.test {
        AstTest::Equal => vec![&it.field],
        AstTest::Between(from, to) => vec![from, to],
        AstTest::After(name)
        | AstTest::From(name)
        | AstTest::Before(name)
        | AstTest::Until(name)
        | AstTest::Begins(name)
        | AstTest::In(name) => vec![name],
    }
}

const fn test(it: &AstTest) -> Test {
    match it {
        AstTest::Equal => Test::Equal,
        AstTest::After(_) => Test::After,
        AstTest::From(_) => Test::From,
        AstTest::Before(_) => Test::Before,
        AstTest::Until(_) => Test::Until,
        AstTest::Between(..) => Test::Between,
        AstTest::Begins(_) => Test::Begins,
        AstTest::In(_) => Test::In,
    }
}

fn repeated(parameters: &[ast::Parameter], found: &mut Found) {
    let mut names: HashMap<&str, &Name> = HashMap::new();
    for name in parameters.iter().flat_map(arguments) {
        match names.entry(&name.text) {
            Entry::Occupied(first) => {
                found.add(twice(code::REPEATED, name, first.get(), format!("duplicate parameter `{}`", name.text)));
            }
            Entry::Vacant(free) => {
                free.insert(name);
            }
        }
    }
}

/// Types of parameters inferred from their use.
#[derive(Default)]
pub(super) struct Hints(Vec<(usize, Type)>);

impl Hints {
    /// Records that a value is assigned to or compared with something of this type.
    pub(super) fn value(&mut self, value: &Expr, kind: &Type) {
        if let ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path }) = &value.kind
            && path.is_empty()
            && !matches!(kind, Type::Unknown)
        {
            self.0.push((*number, kind.clone()));
        }
    }

    /// Records the type of a parameter that a key template uses.
    pub(super) fn parameter(&mut self, number: usize, kind: Type) {
        self.0.push((number, kind));
    }

    /// Records the types that follow from any part of an expression.
    pub(super) fn within(&mut self, model: &Model, expr: &Expr) {
        expr.walk(&mut |part| match &part.kind {
            ExprKind::Guard { guard, arguments } => {
                let parameters = model.guards.get(guard.0).map_or(&[][..], |guard| &guard.parameters);
                self.arguments(parameters, arguments);
            }
            ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, arguments, .. }, .. }) => {
                self.arguments(&model.read(*read).parameters, arguments);
            }
            ExprKind::Binary(_, left, right) => {
                self.value(left, &type_of(model, right));
                self.value(right, &type_of(model, left));
            }
            ExprKind::Between(of, low, high) => {
                let kind = type_of(model, of);
                self.value(low, &kind);
                self.value(high, &kind);
            }
            ExprKind::In(of, list) => {
                let kind = type_of(model, of);
                list.iter().for_each(|part| self.value(part, &kind));
            }
            _ => {}
        });
    }

    /// Records the types of the arguments of a guard or read.
    pub(super) fn arguments(&mut self, parameters: &[Parameter], arguments: &[Expr]) {
        let kinds = parameters.iter().flat_map(|parameter| parameter.arguments.iter().map(|_| &parameter.kind));
        kinds.zip(arguments).for_each(|(kind, argument)| self.value(argument, kind));
    }

    /// Sets the type of parameters that have none.
    pub(super) fn apply(self, parameters: &mut [Parameter]) {
        for (number, kind) in self.0 {
            if let Some(parameter) = parameters.get_mut(number)
                && parameter.is_unknown()
            {
                parameter.kind = kind;
            }
        }
    }
}

/// Returns the type of a field of the current item, of a `let`, or of the caller; `Unknown` for anything else.
fn type_of(model: &Model, expr: &Expr) -> Type {
    let ExprKind::ValuePath(ValuePath { origin, path }) = &expr.kind else { return Type::Unknown };
    let field = |entity: EntityId, field: FieldId| model.entity(entity).fields.get(field.0);
    let field = match origin {
        _ if !path.is_empty() => None,
        Origin::Field(entity, id) | Origin::Let { entity: Some(entity), field: Some(id), .. } => field(*entity, *id),
        Origin::Caller(number) => model.caller.as_ref().and_then(|caller| caller.fields.get(*number)),
        Origin::Let { .. } | Origin::Parameter(_) | Origin::Element(_) | Origin::Read { .. } => None,
    };
    field.map_or(Type::Unknown, |field| field.kind.clone())
}

/// Reports a parameter without type and replaces it by the most similar field. If a key template also refers to that
/// name, rule K01 already reports it.
pub(super) fn report_unknown(
    model: &Model,
    written: &ast::Parameter,
    parameter: &mut Parameter,
    entities: &[EntityId],
    found: &mut Found,
) {
    if parameter.is_unknown() {
        let fields = entities.iter().flat_map(|id| &model.entity(*id).fields).map(|field| field.name.as_str());
        report_untyped(&model.entities, written, parameter, &fields.collect::<Vec<_>>(), entities, found);
    }
}

fn report_untyped(
    all: &[Entity],
    written: &ast::Parameter,
    parameter: &mut Parameter,
    known: &[&str],
    entities: &[EntityId],
    found: &mut Found,
) {
    let name = &written.field;
    let is_missed = entities.iter().any(|id| all[id.0].misses(&name.text));
    let mut say = |finding: Diagnostic| {
        if !is_missed {
            found.add(finding);
        }
    };
    let finding = Diagnostic::error(code::UNTYPED, name.span, untyped(all, &name.text, entities));
    let Some(near) = nearest(&name.text, known) else {
        return say(finding.help(format!("give it a type, such as `{}: string`", name.text)));
    };
    say(finding.help(format!("did you mean `{near}`?")).edit(name.span, near));
    let field = entities.iter().find_map(|id| Some((*id, all[id.0].field_named(near)?)));
    parameter.field = field;
    if let Some((entity, field)) = field {
        parameter.kind = all[entity.0].field(field).kind.clone();
    }
    if parameter.test == Test::Equal {
        parameter.arguments = vec![near.to_owned()];
    }
    near.clone_into(&mut parameter.field_name);
}

fn untyped(all: &[Entity], name: &str, entities: &[EntityId]) -> String {
    let mut titles: Vec<String> = Vec::new();
    for id in entities {
        let title = format!("`{}`", all[id.0].name);
        if !titles.contains(&title) {
            titles.push(title);
        }
    }
    match titles.as_slice() {
        [] => format!("the type of `{name}` is unknown"),
        titles => format!("`{name}` is not a field of {}, so its type is unknown", titles.join(" or ")),
    }
}
