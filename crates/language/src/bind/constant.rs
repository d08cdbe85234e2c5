//! Constant defaults: what an item without the attribute has as the field's value.

use keyform_core::AttributeValue;

use crate::schema::{Expr, ExprKind, Field, Type};

use super::value;

/// Returns the value of a required field whose attribute an item lacks, because the item is older than the field: its
/// constant default. A version starts at zero. `None` if absence has no such meaning: the field is optional, or a set,
/// which is absent when it is empty.
#[must_use]
pub fn when_absent(field: &Field) -> Option<AttributeValue> {
    if field.optional || matches!(field.kind.resolved(), Type::Set(..)) {
        return None;
    }
    if field.flags.version.is_some() {
        return Some(0.into());
    }
    constant(field.default.as_ref()?, &field.kind)
}

/// Returns the value of a literal; `None` for an expression whose value depends on the call.
fn constant(expr: &Expr, kind: &Type) -> Option<AttributeValue> {
    let value = match (&expr.kind, kind.resolved()) {
        (ExprKind::Text(text), _) => text.as_str().into(),
        (ExprKind::Number(text), _) => AttributeValue::N(text.parse().ok()?),
        (ExprKind::Duration(seconds), _) => i64::try_from(*seconds).ok()?.into(),
        (ExprKind::Bool(value), _) => (*value).into(),
        (ExprKind::List(parts), Type::List(of, _) | Type::Set(of, _)) => {
            AttributeValue::L(parts.iter().map(|part| constant(part, of)).collect::<Option<_>>()?)
        }
        (ExprKind::Record(parts), kind) => {
            let of = |name: &str| match kind {
                Type::Record(fields) => fields.iter().find(|field| field.name == name).map(|field| &field.kind),
                Type::Map(of, _) => Some(&**of),
                _ => Some(&Type::Unknown),
            };
            let part = |(name, part): &(String, Expr)| Some((name.clone(), constant(part, of(name)?)?));
            AttributeValue::M(parts.iter().map(part).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    value::fitted(value, kind)
}
