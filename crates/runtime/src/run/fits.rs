//! Checks values against their types: format and bounds.

use keyform_core::AttributeValue;
use keyform_core::limits::NESTING_DEPTH_MAX;
use keyform_core::value::{name, size};

use keyform_language::document::ast::Bounds;
use keyform_language::schema::{Field, Type};
use keyform_language::template::render;

/// Returns whether a field of this type can hold the value. E-mail addresses are checked as they are stored: trimmed
/// and in lower case.
#[must_use]
pub fn fits(value: &AttributeValue, kind: &Type) -> bool {
    match (kind.resolved(), value) {
        (Type::Json, value) => size::levels(value) < NESTING_DEPTH_MAX && name::check_value(value).is_ok(),
        (Type::Unknown, _) => true,
        (Type::Email, AttributeValue::S(text)) => render::accepts(&Type::Email, &text.trim().to_lowercase()),
        (Type::Binary(bounds), AttributeValue::B(bytes)) => within(*bounds, bytes.len()),
        (Type::Bool, AttributeValue::Bool(_)) => true,
        (kind, AttributeValue::S(text)) if kind.is_text() => render::accepts(kind, text),
        (kind, AttributeValue::N(number)) if kind.is_numeric() => render::accepts(kind, &number.to_string()),
        (Type::List(of, bounds), AttributeValue::L(parts)) => {
            within(*bounds, parts.len()) && parts.iter().all(|part| fits(part, of))
        }
        // An empty set has no element type.
        (Type::Set(_, bounds), AttributeValue::Ss(parts)) if parts.is_empty() => within(*bounds, 0),
        (Type::Set(of, bounds), AttributeValue::Ss(parts)) => {
            within(*bounds, parts.len()) && parts.iter().all(|part| fits(&part.as_str().into(), of))
        }
        (Type::Set(of, bounds), AttributeValue::Ns(parts)) => {
            within(*bounds, parts.len()) && parts.iter().all(|part| fits(&AttributeValue::N(*part), of))
        }
        (Type::Set(of, bounds), AttributeValue::Bs(parts)) => {
            within(*bounds, parts.len()) && parts.iter().all(|part| fits(&AttributeValue::B(part.clone()), of))
        }
        (Type::Map(of, bounds), AttributeValue::M(parts)) => {
            within(*bounds, parts.len()) && parts.iter().all(|(name, part)| name::check(name).is_ok() && fits(part, of))
        }
        (Type::Record(fields), AttributeValue::M(parts)) => {
            let known = |name: &String| fields.iter().any(|field| field.name == *name);
            parts.keys().all(known) && fields.iter().all(|field| fits_field(parts.get(&field.name), field))
        }
        _ => false,
    }
}

fn fits_field(part: Option<&AttributeValue>, field: &Field) -> bool {
    match part {
        None => field.optional || field.null || field.has_source(),
        Some(AttributeValue::Null) => field.null,
        Some(part) => fits(part, &field.kind),
    }
}

fn within(bounds: Bounds, count: usize) -> bool {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    bounds.min.is_none_or(|min| min <= count) && bounds.max.is_none_or(|max| count <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(min: i64, max: i64) -> Bounds {
        Bounds { min: Some(min), max: Some(max) }
    }

    #[test]
    fn forms_and_bounds_decide() {
        let check = |kind: Type, value: AttributeValue, expected: bool| {
            assert_eq!(fits(&value, &kind), expected, "{value:?} as {kind:?}");
        };
        check(Type::Ulid, "01KKP2T8SN0000000000000000".into(), true);
        check(Type::Ulid, "1#OTHER".into(), false);
        check(Type::String(bounds(1, 3)), "abc".into(), true);
        check(Type::String(bounds(1, 3)), "abcd".into(), false);
        check(Type::String(bounds(1, 3)), "".into(), false);
        check(Type::Email, " Ada@Example.com ".into(), true);
        check(Type::Email, "ada".into(), false);
        check(Type::Int(bounds(1, 9)), 9.into(), true);
        check(Type::Int(bounds(1, 9)), 10.into(), false);
        check(Type::Bool, "true".into(), false);
        check(Type::OneOf(vec!["a".to_owned()]), "a".into(), true);
        check(Type::OneOf(vec!["a".to_owned()]), "b".into(), false);
        let named = |name: &str| AttributeValue::M([(name.to_owned(), true.into())].into());
        let map = || Type::Map(Box::new(Type::Bool), bounds(0, 1));
        for (name, expected) in [("a", true), ("", false), (&"n".repeat(70_000), false)] {
            check(Type::Json, AttributeValue::L(vec![named(name)]), expected);
            check(map(), named(name), expected);
        }
        let list = || Type::List(Box::new(Type::Bool), bounds(0, 1));
        check(list(), AttributeValue::L(vec![true.into()]), true);
        check(list(), AttributeValue::L(vec![true.into(), true.into()]), false);
        check(list(), AttributeValue::L(vec!["no".into()]), false);
    }
}
