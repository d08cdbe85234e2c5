//! Checks values against their types: format and bounds.

use keyform_core::AttributeValue;
use keyform_core::limits::NESTING_DEPTH_MAX;
use keyform_core::value::{name, size};

use crate::scalar::Stored;

use super::words::described;
use super::{Field, Type};

/// Returns whether a field of this type can hold the value. Texts are checked in the form that is stored: an
/// e-mail address trimmed and in lower case.
#[must_use]
pub fn fits(value: &AttributeValue, kind: &Type) -> bool {
    match (kind.resolved(), value) {
        (Type::Json, value) => size::levels(value) < NESTING_DEPTH_MAX && name::check_value(value).is_ok(),
        (Type::Unknown, _) => true,
        (Type::Scalar(scalar, bounds), value) => match (scalar.stored(), value) {
            (Stored::Text, AttributeValue::S(text)) => match scalar.normalize() {
                Some(normalize) => scalar.accepts(*bounds, &normalize(text)),
                None => scalar.accepts(*bounds, text),
            },
            (Stored::Number, AttributeValue::N(number)) => scalar.accepts(*bounds, &number.to_string()),
            (Stored::Bytes, AttributeValue::B(bytes)) => bounds.allow(bytes.len()),
            (Stored::Bool, AttributeValue::Bool(_)) => true,
            _ => false,
        },
        (Type::OneOf(texts), AttributeValue::S(text)) => texts.contains(text),
        (Type::List(of, bounds), AttributeValue::L(parts)) => {
            bounds.allow(parts.len()) && parts.iter().all(|part| fits(part, of))
        }
        // An empty set has no element type.
        (Type::Set(_, bounds), AttributeValue::Ss(parts)) if parts.is_empty() => bounds.allow(0),
        (Type::Set(of, bounds), AttributeValue::Ss(parts)) => {
            bounds.allow(parts.len()) && parts.iter().all(|part| fits(&part.as_str().into(), of))
        }
        (Type::Set(of, bounds), AttributeValue::Ns(parts)) => {
            bounds.allow(parts.len()) && parts.iter().all(|part| fits(&AttributeValue::N(*part), of))
        }
        (Type::Set(of, bounds), AttributeValue::Bs(parts)) => {
            bounds.allow(parts.len()) && parts.iter().all(|part| fits(&AttributeValue::B(part.clone()), of))
        }
        (Type::Map(of, bounds), AttributeValue::M(parts)) => {
            bounds.allow(parts.len()) && parts.iter().all(|(name, part)| name::check(name).is_ok() && fits(part, of))
        }
        (Type::Record(fields), AttributeValue::M(parts)) => {
            let known = |name: &String| fields.iter().any(|field| field.name == *name);
            parts.keys().all(known) && fields.iter().all(|field| fits_field(parts.get(&field.name), field))
        }
        _ => false,
    }
}

/// Returns the part of a value that does not fit, as a path from `name`, and what it should be. The value as a whole
/// must not fit.
#[must_use]
pub fn misfit_at(name: &str, value: &AttributeValue, kind: &Type) -> (String, String) {
    let whole = || (name.to_owned(), described(kind));
    match (kind.resolved(), value) {
        (Type::List(of, _), AttributeValue::L(parts)) => {
            let wrong = parts.iter().enumerate().find(|(_, part)| !fits(part, of));
            wrong.map_or_else(whole, |(number, part)| misfit_at(&format!("{name}[{number}]"), part, of))
        }
        (Type::Map(of, _), AttributeValue::M(parts)) => {
            let wrong = parts.iter().find(|(_, part)| !fits(part, of));
            wrong.map_or_else(whole, |(key, part)| misfit_at(&format!("{name}.{key}"), part, of))
        }
        (Type::Record(fields), AttributeValue::M(parts)) => {
            let is_unknown = |part: &&String| !fields.iter().any(|field| field.name == **part);
            if let Some(unknown) = parts.keys().find(is_unknown) {
                let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                return (
                    format!("{name}.{unknown}"),
                    format!("a field of the object; its fields are {}", names.join(", ")),
                );
            }
            let Some(field) = fields.iter().find(|field| !fits_field(parts.get(&field.name), field)) else {
                return whole();
            };
            let name = format!("{name}.{}", field.name);
            match parts.get(&field.name) {
                Some(part) => misfit_at(&name, part, &field.kind),
                None => (name, described(&field.kind)),
            }
        }
        _ => whole(),
    }
}

fn fits_field(part: Option<&AttributeValue>, field: &Field) -> bool {
    match part {
        None => field.optional || field.null || field.has_source(),
        Some(AttributeValue::Null) => field.null,
        Some(part) => fits(part, &field.kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Bounds, Scalar};

    fn bounds(min: i64, max: i64) -> Bounds {
        Bounds { min: Some(min), max: Some(max) }
    }

    #[test]
    fn forms_and_bounds_decide() {
        let check = |kind: Type, value: AttributeValue, expected: bool| {
            assert_eq!(fits(&value, &kind), expected, "{value:?} as {kind:?}");
        };
        check(Scalar::Ulid.into(), "01KKP2T8SN0000000000000000".into(), true);
        check(Scalar::Ulid.into(), "1#OTHER".into(), false);
        check(Type::Scalar(Scalar::String, bounds(1, 3)), "abc".into(), true);
        check(Type::Scalar(Scalar::String, bounds(1, 3)), "abcd".into(), false);
        check(Type::Scalar(Scalar::String, bounds(1, 3)), "".into(), false);
        check(Scalar::Email.into(), " Ada@Example.com ".into(), true);
        check(Scalar::Email.into(), "ada".into(), false);
        check(Type::Scalar(Scalar::Int, bounds(1, 9)), 9.into(), true);
        check(Type::Scalar(Scalar::Int, bounds(1, 9)), 10.into(), false);
        check(Scalar::Bool.into(), "true".into(), false);
        check(Type::OneOf(vec!["a".to_owned()]), "a".into(), true);
        check(Type::OneOf(vec!["a".to_owned()]), "b".into(), false);
        let named = |name: &str| AttributeValue::M([(name.to_owned(), true.into())].into());
        let map = || Type::Map(Box::new(Scalar::Bool.into()), bounds(0, 1));
        for (name, expected) in [("a", true), ("", false), (&"n".repeat(70_000), false)] {
            check(Type::Json, AttributeValue::L(vec![named(name)]), expected);
            check(map(), named(name), expected);
        }
        let list = || Type::List(Box::new(Scalar::Bool.into()), bounds(0, 1));
        check(list(), AttributeValue::L(vec![true.into()]), true);
        check(list(), AttributeValue::L(vec![true.into(), true.into()]), false);
        check(list(), AttributeValue::L(vec!["no".into()]), false);
    }
}
