//! Comparison of values.

use std::cmp::Ordering;

use keyform::{AttributeValue, Attributes};
use keyform_language::scalar::Scalar;
use keyform_language::schema::{Entity, Parameter, Test, Type};

/// Compares numbers numerically, everything else as text.
pub fn compare(one: &AttributeValue, other: &AttributeValue) -> Ordering {
    match (one, other) {
        (AttributeValue::N(one), AttributeValue::N(other)) => one.cmp(other),
        _ => text(one).as_bytes().cmp(text(other).as_bytes()),
    }
}

/// Converts a value to text.
pub fn text(value: &AttributeValue) -> String {
    match value {
        AttributeValue::S(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

/// Returns a value as it is stored, where that affects comparisons.
pub fn normalised(kind: &Type, value: &AttributeValue) -> AttributeValue {
    match (kind.resolved(), value) {
        (Type::Scalar(Scalar::Email, _), AttributeValue::S(text)) => AttributeValue::S(text.trim().to_lowercase()),
        (_, value) => value.clone(),
    }
}

/// Returns whether a field satisfies the parameter's test.
pub fn holds(parameter: &Parameter, entity: &Entity, arguments: &Attributes, fields: &Attributes) -> bool {
    let Some(field) = fields.get(&parameter.field_name) else { return false };
    let kind = &entity.field(entity.field_named(&parameter.field_name).expect("it has the field")).kind;
    let argument = |number: usize| normalised(kind, &arguments[&parameter.arguments[number]]);
    let field = normalised(kind, field);
    let order = |number| compare(&field, &argument(number));
    match parameter.test {
        Test::Equal => order(0).is_eq(),
        Test::After => order(0).is_gt(),
        Test::From => order(0).is_ge(),
        Test::Before => order(0).is_lt(),
        Test::Until => order(0).is_le(),
        Test::Between => order(0).is_ge() && order(1).is_le(),
        Test::Begins => text(&field).starts_with(&text(&argument(0))),
        Test::In => match &arguments[&parameter.arguments[0]] {
            AttributeValue::L(parts) => parts.iter().any(|part| normalised(kind, part) == field),
            _ => false,
        },
    }
}
