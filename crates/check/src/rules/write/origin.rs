//! Relates the items that a write has read to the items that its steps have.

use keyform_language::schema::{
    Action, EntityId, Expr, ExprKind, FieldId, Let, LetSource, Model, Origin, Read, Result, Test, ValuePath, Write,
};

/// Returns the read of a `let` with its arguments.
pub(super) fn source<'a>(model: &'a Model, of: &'a Let) -> Option<(&'a Read, &'a [Expr])> {
    match &of.source {
        LetSource::Read { read, arguments } => Some((model.read(*read), arguments)),
        LetSource::Value(_) | LetSource::Unknown => None,
    }
}

/// Returns the value that a read compares with a field of this name by equality.
pub(super) fn argument<'a>(read: &Read, arguments: &'a [Expr], name: &str) -> Option<&'a Expr> {
    let mut given = arguments.iter();
    for parameter in &read.parameters {
        let value = given.next();
        given.by_ref().take(parameter.arguments.len().saturating_sub(1)).for_each(drop);
        if parameter.field_name == name && parameter.test == Test::Equal {
            return value;
        }
    }
    None
}

/// Returns whether a read returns a list or a number of items.
pub(super) fn is_of_many(read: &Read) -> bool {
    use keyform_language::document::ast::Number;
    match &read.result {
        Result::Count(..) => true,
        Result::Parts(parts) => parts.iter().any(|(_, number, _)| *number == Number::Many),
    }
}

/// Relation between the item of a step and an item that a `let` has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The same item.
    Same,
    /// Another item, as far as the model says.
    Other,
}

/// Compares the item of a step with the item that the `let` with this number has read.
pub(super) fn compare(model: &Model, write: &Write, action: &Action, entity: EntityId, number: usize) -> Item {
    let Some((read, arguments)) = write.lets.get(number).and_then(|of| source(model, of)) else { return Item::Other };
    if action.entity != Some(entity) {
        return Item::Other;
    }
    let is_same = |key: &FieldId| {
        let Some((_, value)) = action.keys.iter().find(|(field, _)| field == key) else { return false };
        let name = &model.entity(entity).field(*key).name;
        let given = argument(read, arguments, name);
        // A read of the table with a `key` clause fixes key fields by its template, which is taken to be the same.
        let is_fixed_by_key = given.is_none() && read.via.is_none();
        is_field_of(value, number, *key)
            || given.is_some_and(|given| given.same(value))
            || is_fixed_by_key
            || is_tied(write, number, *key)
    };
    if model.entity(entity).key_fields().iter().all(is_same) { Item::Same } else { Item::Other }
}

/// Returns whether a value is this field of the result of a `let`.
fn is_field_of(value: &Expr, number: usize, field: FieldId) -> bool {
    matches!(&value.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Let { number: of, field: Some(key), .. }, path })
        if *of == number && *key == field && path.is_empty())
}

/// Returns whether a `require` names the key field of the item that was read.
fn is_tied(write: &Write, number: usize, key: FieldId) -> bool {
    write.requires.iter().any(|require| {
        let mut found = false;
        require.condition.walk(&mut |part| found |= is_field_of(part, number, key));
        found
    })
}
