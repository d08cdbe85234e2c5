//! Formats fields and their types.

use super::super::ast::{CallerField, Field, Flag, FlagKind, Text, Type, TypeKind, TypeRef};
use super::row::{columns, indented};
use super::{WIDTH, expression, word};

/// Formats `caller a: type, b: type`.
pub(super) fn caller(fields: &[CallerField]) -> Vec<String> {
    let claims: Vec<String> = fields.iter().map(claim).collect();
    vec![format!("caller {}", claims.join(", "))]
}

/// Formats `name: type from "claim" split global "reason"`.
fn claim(field: &CallerField) -> String {
    let global = field.global.as_ref().map(|reason| format!(" global {}", word::text(reason))).unwrap_or_default();
    let from = field.from.as_ref().map(|from| {
        let split = if from.split { " split" } else { "" };
        format!(" from {}{split}", word::text(&from.claim))
    });
    format!("{}: {}{}{global}", word::name(&field.name), type_ref(&field.kind), from.unwrap_or_default())
}

/// Formats `name: type flags = default`.
fn field(field: &Field) -> String {
    format!("{}: {}", word::name(&field.name), field_value(field))
}

/// Formats `type flags = default`.
pub(super) fn field_value(field: &Field) -> String {
    format!("{}{}", type_ref(&field.kind), after_type(field))
}

/// Formats `flags = default`.
fn after_type(field: &Field) -> String {
    let mut text = String::new();
    for flag in &field.flags {
        text.push(' ');
        text.push_str(&flag_text(flag));
    }
    if let Some(default) = &field.default {
        text.push_str(" = ");
        text.push_str(&expression::text(default));
    }
    text
}

/// Formats the value of a field that does not fit on one line: the first line follows the name, the others go below the
/// field. `column` is the column where the type begins.
pub(super) fn long_field_value(field: &Field, column: usize) -> Vec<String> {
    let after = format!("{}{}", suffix(&field.kind), after_type(field));
    match &field.kind.kind {
        TypeKind::Type(Type::Record(fields)) if !fields.is_empty() => record_lines(fields, &after),
        TypeKind::Type(Type::OneOf(values)) => one_of_lines(values, &after, column),
        _ => vec![field_value(field)],
    }
}

fn record_lines(fields: &[Field], after: &str) -> Vec<String> {
    let width = fields.iter().map(|field| columns(&word::name(&field.name))).max().unwrap_or_default();
    let mut inner = Vec::new();
    for field in fields {
        let name = format!("{}:", word::name(&field.name));
        let padding = " ".repeat(width + 1 - columns(&name));
        let mut value = vec![field_value(field)];
        if columns(&value[0]) + width + 6 > WIDTH {
            value = long_field_value(field, width + 2);
        }
        let mut value = value.into_iter();
        inner.push(format!("{name}{padding} {}", value.next().unwrap_or_default()));
        inner.extend(value);
    }
    let mut lines = vec!["{".to_owned()];
    lines.extend(indented(inner));
    lines.push(format!("}}{after}"));
    lines
}

fn one_of_lines(values: &[Text], after: &str, column: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let room = WIDTH.saturating_sub(column + columns(after) + 4);
    for (number, value) in values.iter().enumerate() {
        let value = word::text(value);
        let line = lines.last_mut().expect("there is always a line");
        if number == 0 {
            line.push_str(&value);
        } else if columns(line) + columns(&value) + 3 <= room {
            line.push_str(&format!(" | {value}"));
        } else {
            lines.push(format!("| {value}"));
        }
    }
    if let Some(last) = lines.last_mut() {
        last.push_str(after);
    }
    let padding = " ".repeat(column);
    let first = lines.remove(0);
    std::iter::once(first).chain(lines.into_iter().map(|line| format!("{padding}{line}"))).collect()
}

/// Formats a type with its suffix.
pub(super) fn type_ref(kind: &TypeRef) -> String {
    format!("{}{}", type_kind(&kind.kind), suffix(kind))
}

fn suffix(kind: &TypeRef) -> String {
    let optional = if kind.optional { "?" } else { "" };
    let null = if kind.null { " | null" } else { "" };
    format!("{optional}{null}")
}

fn type_kind(kind: &TypeKind) -> String {
    let kind = match kind {
        TypeKind::Type(kind) => kind,
        TypeKind::Unknown(word) => return word::name(word),
    };
    match kind {
        Type::Scalar(scalar, bounds) => format!("{}{bounds}", scalar.keyword()),
        Type::OneOf(values) => values.iter().map(word::text).collect::<Vec<_>>().join(" | "),
        Type::List(element, bounds) => format!("list<{}>{bounds}", type_ref(element)),
        Type::Map(element, bounds) => format!("map<{}>{bounds}", type_ref(element)),
        Type::Set(element, bounds) => format!("set<{}>{bounds}", type_ref(element)),
        Type::Json => "json".to_owned(),
        Type::Record(fields) => record(fields),
        Type::Ref { entity, field: None, plain: () } => format!("ref {}", word::name(entity)),
        Type::Ref { entity, field: Some(target), plain: () } => {
            format!("ref {}.{}", word::name(entity), word::name(target))
        }
        Type::Copy { entity, field: source, plain: () } => {
            format!("copy {}.{}", word::name(entity), word::name(source))
        }
        Type::Unknown => "``".to_owned(),
    }
}

fn record(fields: &[Field]) -> String {
    if fields.is_empty() {
        return "{}".to_owned();
    }
    format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
}

fn flag_text(flag: &Flag) -> String {
    match &flag.kind {
        FlagKind::Unique(per) if per.is_empty() => "unique".to_owned(),
        FlagKind::Unique(per) => format!("unique per {}", word::names(per)),
        FlagKind::Version => "version".to_owned(),
        FlagKind::Created => "created".to_owned(),
        FlagKind::Updated => "updated".to_owned(),
        FlagKind::Immutable => "immutable".to_owned(),
        FlagKind::Secret => "secret".to_owned(),
        FlagKind::Encrypted => "encrypted".to_owned(),
        FlagKind::Personal => "personal".to_owned(),
        FlagKind::Id => "id".to_owned(),
        FlagKind::Cascade => "cascade".to_owned(),
        FlagKind::Restrict => "restrict".to_owned(),
        FlagKind::Keep => "keep".to_owned(),
        FlagKind::Snapshot => "snapshot".to_owned(),
        FlagKind::Refresh => "refresh".to_owned(),
        FlagKind::Internal => "internal".to_owned(),
        FlagKind::Bearer => "bearer".to_owned(),
        FlagKind::Grants => "grants".to_owned(),
    }
}
