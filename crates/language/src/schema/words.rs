//! Formats types, flags and results in source syntax, for documentation and hovers.

use crate::document::ast::{Bounds, Number};

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
        Type::String(bounds) => format!("string{}", bounded(*bounds)),
        Type::Slug(bounds) => format!("slug{}", bounded(*bounds)),
        Type::Int(bounds) => format!("int{}", bounded(*bounds)),
        Type::Binary(bounds) => format!("binary{}", bounded(*bounds)),
        Type::Number => "number".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Ulid => "ulid".to_owned(),
        Type::Uuid => "uuid".to_owned(),
        Type::Email => "email".to_owned(),
        Type::Url => "url".to_owned(),
        Type::Timestamp => "timestamp".to_owned(),
        Type::Datetime => "datetime".to_owned(),
        Type::Epoch => "epoch".to_owned(),
        Type::EpochMs => "epoch_ms".to_owned(),
        Type::Date => "date".to_owned(),
        Type::Money => "money".to_owned(),
        Type::OneOf(values) => values.iter().map(|value| format!("\"{value}\"")).collect::<Vec<_>>().join(" | "),
        Type::List(of, bounds) => format!("list<{}>{}", type_name(model, of), bounded(*bounds)),
        Type::Map(of, bounds) => format!("map<{}>{}", type_name(model, of), bounded(*bounds)),
        Type::Set(of, bounds) => format!("set<{}>{}", type_name(model, of), bounded(*bounds)),
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

fn bounded(bounds: Bounds) -> String {
    match (bounds.min, bounds.max) {
        (None, None) => String::new(),
        (Some(min), Some(max)) if min == max => format!("({min})"),
        (min, max) => {
            let end = |value: Option<i64>| value.map_or_else(String::new, |value| value.to_string());
            format!("({}..{})", end(min), end(max))
        }
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
