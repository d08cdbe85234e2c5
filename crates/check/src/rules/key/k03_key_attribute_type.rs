//! K03: a key attribute is filled with a value that no key can hold, or with a value of another type.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::KeyType;
use keyform_language::schema::{Field, Format, KeyAttribute, KeyPart, Part, Table, Type};
use keyform_language::span::Span;

use super::{Keyed, attribute, keys};

pub(super) static RULE: Rule = Rule {
    code: Code("K03"),
    severity: Severity::Error,
    title: "a key attribute has the wrong type",
    page: include_str!("../../../../../docs/rules/K03.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for table in &context.model.tables {
        findings.extend(two_types(table));
    }
    for keyed in keys(context.model) {
        for part in keyed.parts() {
            findings.extend(misfit(keyed, part));
        }
    }
}

/// Reports attributes that have different types in two keys of the table.
fn two_types(table: &Table) -> Vec<Diagnostic> {
    let of_indexes = table.indexes.iter().flat_map(|index| index.partition.iter().chain(&index.sort));
    let all: Vec<&KeyAttribute> = table.partition.iter().chain(&table.sort).chain(of_indexes).collect();
    let mut findings = Vec::new();
    for (number, later) in all.iter().enumerate() {
        let earlier = all[..number].iter().find(|earlier| earlier.name == later.name);
        if let Some(earlier) = earlier.filter(|earlier| earlier.kind != later.kind) {
            let message = format!(
                "`{}` is {} here and {} in another key of {}",
                later.name,
                word(later.kind),
                word(earlier.kind),
                table.name
            );
            let finding = Diagnostic::error(RULE.code, later.span, message).also(earlier.span, word(earlier.kind));
            findings.push(finding.help("an attribute has the same type in all keys of a table: use another attribute"));
        }
    }
    findings
}

fn misfit(keyed: Keyed<'_>, part: &KeyPart) -> Option<Diagnostic> {
    unfit(keyed, part).or_else(|| {
        let kind = attribute(keyed.table, keyed.key.index, &part.attribute)?.kind;
        match kind {
            KeyType::String => plain_attribute(keyed, part),
            KeyType::Number => not_alone(keyed, part, kind, Type::is_numeric),
            KeyType::Binary => not_alone(keyed, part, kind, Type::is_bytes),
        }
    })
}

/// Reports a field whose type no key can hold, such as a list, or bytes inside text.
fn unfit(keyed: Keyed<'_>, part: &KeyPart) -> Option<Diagnostic> {
    part.template.parts.iter().find_map(|piece| {
        let Part::Field { field, format, span } = piece else { return None };
        let field = keyed.entity.field(*field);
        let alone = part.template.parts.len() == 1;
        let why = why_unfit(field, *format, alone, field.name == part.attribute)?;
        let message = format!("`{}` cannot be part of a key: {why}", field.name);
        let finding = Diagnostic::error(RULE.code, keyed.place_of(*span), message).also(field.type_span, "its type");
        Some(finding.help("a key attribute is a string, a number or bytes: use such a field, or `{field:hash}`"))
    })
}

fn why_unfit(field: &Field, format: Format, alone: bool, is_attribute: bool) -> Option<&'static str> {
    match (field.kind.resolved(), format) {
        (Type::Unknown, _) | (_, Format::Hash) => None,
        (Type::List(..), _) => Some("it is a list"),
        (Type::Map(..) | Type::Record(_), _) => Some("it is a map"),
        (Type::Set(..), _) => Some("it is a set"),
        (Type::Json, _) => Some("it can be any value"),
        (kind, Format::Plain) if kind.is_bool() && alone && is_attribute => Some("a boolean cannot be a key"),
        (kind, _) if kind.is_bytes() && !alone => Some("bytes cannot be combined with text"),
        _ => None,
    }
}

/// Reports a number stored as the key attribute itself, or bytes, where the attribute is text.
fn plain_attribute(keyed: Keyed<'_>, part: &KeyPart) -> Option<Diagnostic> {
    let (field, span) = alone(keyed, part)?;
    let is_text = field.kind.is_text() || matches!(field.kind.resolved(), Type::Unknown);
    let is_bytes = field.kind.is_bytes();
    if is_text || (field.name != part.attribute && !is_bytes) {
        return None;
    }
    Some(other_type(keyed, part, field, span, KeyType::String))
}

/// Reports a template that is not exactly one field of the attribute's type.
fn not_alone(keyed: Keyed<'_>, part: &KeyPart, kind: KeyType, fits: fn(&Type) -> bool) -> Option<Diagnostic> {
    match alone(keyed, part) {
        _ if part.template.is_broken() => None,
        Some((field, _)) if fits(&field.kind) || matches!(field.kind.resolved(), Type::Unknown) => None,
        Some((field, span)) => Some(other_type(keyed, part, field, span, kind)),
        None => {
            let message = format!("`{}` is {}, but this template writes a string", part.attribute, word(kind));
            let finding = Diagnostic::error(RULE.code, keyed.span_of(part), message);
            Some(finding.help("use a single field of that type, or another attribute for strings"))
        }
    }
}

fn other_type(keyed: Keyed<'_>, part: &KeyPart, field: &Field, span: Span, kind: KeyType) -> Diagnostic {
    let message = format!("`{}` is {}, but `{}` is not", part.attribute, word(kind), field.name);
    let finding = Diagnostic::error(RULE.code, keyed.place_of(span), message).also(field.type_span, "its type");
    let declared = attribute(keyed.table, keyed.key.index, &part.attribute);
    let finding = match declared {
        Some(attribute) => finding.also(attribute.span, word(kind)),
        None => finding,
    };
    finding.help("all entities of a table fill a key attribute with the same type")
}

/// Returns the field if the template is one field without a format.
fn alone<'a>(keyed: Keyed<'a>, part: &KeyPart) -> Option<(&'a Field, Span)> {
    match part.template.parts.as_slice() {
        [Part::Field { field, format: Format::Plain, span }] => Some((keyed.entity.field(*field), *span)),
        _ => None,
    }
}

fn word(kind: KeyType) -> &'static str {
    match kind {
        KeyType::String => "text",
        KeyType::Number => "a number",
        KeyType::Binary => "bytes",
    }
}
