//! Deterministic sample values: equal for the same type, name and index, so that documents and findings do not change
//! between runs.

use crate::schema::{Field, Type};

/// Returns a sample value for a field; different for each `number` where the type has enough values. A type that cannot
/// be part of a key yields `{}`.
#[must_use]
pub fn value(field: &Field, number: usize) -> String {
    of_type(&field.kind, &field.name, number)
}

/// Returns a sample value for a type, with a word that makes free text readable.
#[must_use]
pub fn of_type(kind: &Type, word: &str, number: usize) -> String {
    match kind.resolved() {
        Type::Scalar(scalar, bounds) => scalar.sample(*bounds, word, number),
        Type::OneOf(texts) => texts.get(number % texts.len().max(1)).cloned().unwrap_or_default(),
        Type::List(..) | Type::Set(..) => "[]".to_owned(),
        Type::Map(..) | Type::Json | Type::Record(_) | Type::Ref { .. } | Type::Copy { .. } | Type::Unknown => {
            "{}".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::{Bounds, Scalar};
    use crate::template::render::accepts;

    #[test]
    fn samples_are_values_of_their_type() {
        let bounds = |scalar, min, max| Type::Scalar(scalar, Bounds { min: Some(min), max: Some(max) });
        let bounded = [
            bounds(Scalar::String, 1, 4),
            bounds(Scalar::String, 40, 50),
            bounds(Scalar::Slug, 3, 63),
            bounds(Scalar::Int, 5, 7),
            bounds(Scalar::Int, -9, -3),
            Type::OneOf(vec!["a".into(), "b".into()]),
        ];
        for kind in bounded.into_iter().chain(Scalar::ALL.iter().map(|scalar| Type::from(*scalar))) {
            for number in 0..5 {
                let value = of_type(&kind, "orderId", number);
                assert!(accepts(&kind, &value), "{value} of {kind:?}");
                assert_eq!(value, of_type(&kind, "orderId", number));
            }
        }
    }
}
