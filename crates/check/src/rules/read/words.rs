//! Formats parts of a model for messages.

use keyform_core::expression::Comparator;

use keyform_language::schema::{Entity, EntityKey, FieldId, Parameter, Part, Read, Template, Test};
use keyform_language::span::Span;

/// `a`, `b` and `c`.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// `a`, `b` or `c`.
pub(super) fn any_of(entity: &Entity, of: &[FieldId]) -> String {
    let all = fields(entity, of);
    match all.rsplit_once(" and ") {
        Some((rest, last)) => format!("{rest} or {last}"),
        None => all,
    }
}

/// Joins the names of fields for a sentence.
pub(super) fn fields(entity: &Entity, fields: &[FieldId]) -> String {
    list(fields.iter().map(|&field| entity.field(field).name.as_str()))
}

/// Formats a parameter as in the source.
pub(super) fn parameter(parameter: &Parameter) -> String {
    let name = &parameter.field_name;
    let argument = |number: usize| parameter.arguments.get(number).map_or(name.as_str(), String::as_str);
    match parameter.test {
        Test::Equal => name.clone(),
        Test::After | Test::From | Test::Before | Test::Until => {
            let symbol = parameter.test.comparator().map_or("", Comparator::symbol);
            format!("{name} {symbol} {}", argument(0))
        }
        Test::Between => format!("{name} between {} and {}", argument(0), argument(1)),
        Test::Begins => format!("{name} begins {}", argument(0)),
        Test::In => format!("{name} in {}", argument(0)),
    }
}

/// Formats an entity's template as in the source.
pub(super) fn entity_template(entity: &Entity, of: &Template) -> String {
    of.text(|field| &entity.field(field).name)
}

/// Formats the template of a `key` clause as in the source. Its placeholders are parameters, not fields.
pub(super) fn clause_template(read: &Read, of: &Template) -> String {
    of.text(|field| {
        let parameter = read.parameters.get(field.0);
        parameter.and_then(|parameter| parameter.arguments.first()).map_or("", String::as_str)
    })
}

/// Returns the span of a field in the templates of a key, or of the whole key.
pub(super) fn place_in_key(key: &EntityKey, field: FieldId) -> Span {
    let parts = key.partition.iter().chain(&key.sort).flat_map(|part| &part.template.parts);
    let mut places = parts.filter_map(|part| match part {
        Part::Field { field: found, span, .. } if *found == field => Some(*span),
        _ => None,
    });
    places.next().unwrap_or(key.span)
}
