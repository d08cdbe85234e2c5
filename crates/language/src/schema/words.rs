//! Formats types, flags and results in source syntax, for documentation and hovers.

use crate::document::ast::Number;

use super::{Field, Flags, Model, Read, Result, Type};

/// Formats the type of a field with its `?` and `| null`.
#[must_use]
pub fn field_type(model: &Model, field: &Field) -> String {
    let optional = if field.optional { "?" } else { "" };
    let null = if field.null { " | null" } else { "" };
    format!("{}{optional}{null}", type_name(model, &field.kind))
}

/// Formats a type.
#[must_use]
pub fn type_name(model: &Model, kind: &Type) -> String {
    match kind {
        Type::Scalar(scalar, bounds) => format!("{}{bounds}", scalar.keyword()),
        Type::OneOf(values) => values.iter().map(|value| format!("\"{value}\"")).collect::<Vec<_>>().join(" | "),
        Type::List(of, bounds) => format!("list<{}>{bounds}", type_name(model, of)),
        Type::Map(of, bounds) => format!("map<{}>{bounds}", type_name(model, of)),
        Type::Set(of, bounds) => format!("set<{}>{bounds}", type_name(model, of)),
        Type::Json => "json".to_owned(),
        Type::Record(fields) => {
            let inner = fields.iter().map(|field| format!("{}: {}", field.name, field_type(model, field)));
            format!("{{ {} }}", inner.collect::<Vec<_>>().join(", "))
        }
        Type::Ref { entity, .. } => format!("ref {}", entity.map_or("?", |id| &model.entity(id).name)),
        Type::Copy { entity, field, .. } => match entity.zip(*field) {
            Some((entity, field)) => {
                let entity = model.entity(entity);
                format!("copy {}.{}", entity.name, entity.field(field).name)
            }
            None => "copy ?".to_owned(),
        },
        Type::Unknown => "?".to_owned(),
    }
}

/// Describes a type and its bounds for messages: `a text of 1 to 32 characters`.
#[must_use]
pub fn described(kind: &Type) -> String {
    match kind.resolved() {
        Type::Scalar(scalar, bounds) => scalar.described(*bounds),
        Type::OneOf(texts) => format!("one of {}", texts.join(", ")),
        Type::List(_, bounds) | Type::Set(_, bounds) => format!("a list{}", bounds.extent("elements")),
        Type::Map(_, bounds) => format!("an object{}", bounds.extent("entries")),
        Type::Record(_) => "an object".to_owned(),
        Type::Json => "JSON with at most 31 levels and names of 1 to 65,535 bytes".to_owned(),
        Type::Ref { .. } | Type::Copy { .. } | Type::Unknown => "a value of its type".to_owned(),
    }
}

/// Returns the set flags of a field in the order of the language reference.
#[must_use]
pub fn flags(flags: &Flags) -> Vec<&'static str> {
    let named = [
        ("version", flags.version),
        ("created", flags.created),
        ("updated", flags.updated),
        ("immutable", flags.immutable),
        ("secret", flags.secret),
        ("encrypted", flags.encrypted),
        ("personal", flags.personal),
        ("id", flags.id),
        ("cascade", flags.cascade),
        ("restrict", flags.restrict),
        ("keep", flags.keep),
        ("snapshot", flags.snapshot),
        ("refresh", flags.refresh),
        ("internal", flags.internal),
        ("bearer", flags.bearer),
        ("grants", flags.grants),
    ];
    let unique = flags.unique.iter().map(|_| "unique");
    unique.chain(named.into_iter().filter(|(_, span)| span.is_some()).map(|(name, _)| name)).collect()
}

/// Formats the result of a read: `User?`, `[Message]`, `Workspace + [Member]`.
#[must_use]
pub fn result(model: &Model, read: &Read) -> String {
    let name = |entity: Option<super::EntityId>| entity.map_or("?", |id| model.entity(id).name.as_str());
    match &read.result {
        Result::Count(entity, _) => format!("count {}", name(*entity)),
        Result::Parts(parts) => {
            let part = |&(entity, number, _): &(Option<super::EntityId>, Number, _)| match number {
                Number::One => name(entity).to_owned(),
                Number::Maybe => format!("{}?", name(entity)),
                Number::Many => format!("[{}]", name(entity)),
            };
            parts.iter().map(part).collect::<Vec<_>>().join(" + ")
        }
    }
}
