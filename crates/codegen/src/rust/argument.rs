//! Arguments of a pattern.

use keyform_check::surface::Pattern;
use keyform_language::schema::{
    ChangeKind, Entity, EntityId, Expr, ExprKind, Field, FieldId, Flags, Model, Origin, Parameter, Test, Type,
};

use super::names::{Scope, pascal, snake};
use super::types::{Passed, RustType, TypePosition, Types};

/// Argument of a generated method.
pub(super) struct Argument {
    /// Name in the model.
    pub(super) name: String,
    /// Identifier in Rust.
    pub(super) rust: String,
    pub(super) kind: RustType,
    pub(super) required: bool,
    /// Sends NULL for `None`.
    pub(super) null: bool,
}

impl Argument {
    /// Formats `user_id: &UserId`.
    pub(super) fn parameter(&self) -> String {
        format!("{}: {}", self.rust, self.kind.parameter())
    }

    /// Returns the expression that passes the parameter to a call.
    pub(super) fn passed(&self) -> String {
        if self.kind.passed == Passed::Copied { format!("&{}", self.rust) } else { self.rust.clone() }
    }
}

/// Returns the arguments of a pattern.
pub(super) fn of(types: &mut Types<'_>, pattern: Pattern<'_>) -> Vec<Argument> {
    let mut scope = Scope::with(&["call", "input", "parts"]);
    let mut arguments = Vec::new();
    for argument in pattern.arguments(&types.checked.model) {
        let kind = kind(types, pattern, argument.parameter, argument.name);
        let rust = scope.take(&snake(argument.name), "_");
        let null = argument.required && is_null(&types.checked.model, argument.parameter);
        arguments.push(Argument { name: argument.name.to_owned(), rust, kind, required: argument.required, null });
    }
    arguments
}

/// Returns whether the parameter is a field that stores NULL for `None`.
fn is_null(model: &Model, parameter: &Parameter) -> bool {
    parameter.field.is_some_and(|(entity, field)| !parameter.declared && model.entity(entity).field(field).null)
}

fn kind(types: &mut Types<'_>, pattern: Pattern<'_>, parameter: &Parameter, name: &str) -> RustType {
    let one = match (parameter.test, parameter.field) {
        (Test::Begins, _) => return RustType::text(),
        (_, Some((entity, field))) if !parameter.declared => types.of_field(entity, field),
        _ => declared(types, pattern, parameter, name),
    };
    if parameter.test == Test::In { one.list() } else { one }
}

fn declared(types: &mut Types<'_>, pattern: Pattern<'_>, parameter: &Parameter, name: &str) -> RustType {
    if let Some((entity, field)) = target(&types.checked.model, pattern, parameter) {
        return types.of_field(entity, field);
    }
    let key = format!("pattern {}.{name}", pattern.name());
    let place = TypePosition::new(key, format!("{}{}", pascal(pattern.name()), pascal(name)));
    types.of_named(&named(name, &parameter.kind), &place)
}

/// Returns a field with the name and type of a parameter.
fn named(name: &str, kind: &Type) -> Field {
    Field {
        name: name.to_owned(),
        name_span: Default::default(),
        span: Default::default(),
        docs: Vec::new(),
        kind: kind.clone(),
        type_span: Default::default(),
        optional: false,
        null: false,
        flags: Flags::default(),
        default: None,
    }
}

/// Returns the field that a parameter is assigned to unchanged. The parameter then has the field's type: an id or an
/// enum.
fn target(model: &Model, pattern: Pattern<'_>, parameter: &Parameter) -> Option<(EntityId, FieldId)> {
    let Pattern::Write(write) = pattern else { return None };
    let number = write.parameters.iter().position(|other| other.field_name == parameter.field_name)?;
    let is_parameter = |expr: &Expr| {
        matches!(&expr.kind, ExprKind::ValuePath(place)
            if place.path.is_empty() && matches!(place.origin, Origin::Parameter(of) if of == number))
    };
    let fits = |entity: &Entity, field: FieldId| same(entity.field(field).kind.resolved(), parameter.kind.resolved());
    write.actions().into_iter().find_map(|action| {
        let id = action.entity?;
        let entity = model.entity(id);
        let keys = action.keys.iter().filter(|(_, expr)| is_parameter(expr)).map(|(field, _)| *field);
        let sets = action.changes.iter().filter_map(|change| match &change.kind {
            ChangeKind::Set(expr) if change.path().is_empty() && is_parameter(expr) => change.field,
            _ => None,
        });
        keys.chain(sets).find(|&field| fits(entity, field)).map(|field| (id, field))
    })
}

/// Returns whether both are ids of the same format, or the same literal union.
fn same(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Scalar(one, _), Type::Scalar(other, _)) => one == other && one.is_globally_unique(),
        (Type::OneOf(one), Type::OneOf(other)) => one == other,
        _ => false,
    }
}
