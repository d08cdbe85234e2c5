//! Converts AttributeUpdates to an update.

use keyform_core::error::legacy;
use keyform_core::expression::{Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::value::{AttributeType, name};
use keyform_core::{AttributeValue, Error, Value};

use super::read::AttributeUpdate;

/// Checks the name, action and value of each update on its own.
pub(crate) fn check_updates(updates: Option<&[(String, AttributeUpdate)]>) -> Result<(), Error> {
    for (attribute, update) in updates.unwrap_or_default() {
        name::check(attribute)?;
        if !matches!(update.action.as_deref(), None | Some("PUT" | "ADD" | "DELETE")) {
            return Err(legacy::unknown_action());
        }
        if let Some(Err(problem)) = &update.value {
            return Err(problem.clone());
        }
    }
    Ok(())
}

/// Converts AttributeUpdates; returns `None` if the request has none.
pub(crate) fn update(updates: Option<Vec<(String, AttributeUpdate)>>) -> Result<Option<Update>, Error> {
    let Some(updates) = updates.filter(|updates| !updates.is_empty()) else { return Ok(None) };
    let mut update = Update { legacy: true, ..Update::default() };
    for (attribute, change) in updates {
        apply(&mut update, Path::attribute(attribute), change)?;
    }
    Ok(Some(update))
}

fn apply(update: &mut Update, path: Path, change: AttributeUpdate) -> Result<(), Error> {
    let value = change.value.transpose()?;
    match (change.action.as_deref(), value) {
        (Some("DELETE"), None) => update.remove.push(path),
        (_, None) => return Err(legacy::update_without_value()),
        (Some("DELETE"), Some(value)) if value.kind().is_set() => update.delete.push((path, Value::from(value))),
        (Some("DELETE"), Some(value)) => return Err(legacy::delete_type(value.kind())),
        (Some("ADD"), Some(value)) => add(update, path, value)?,
        (_, Some(value)) => {
            update.set.push(SetAction { path, value: SetValue::Operand(UpdateOperand::Value(Value::from(value))) });
        }
    }
    Ok(())
}

/// Adds an ADD action. Numbers and sets are added; a list is appended to the existing one.
fn add(update: &mut Update, path: Path, value: AttributeValue) -> Result<(), Error> {
    match value.kind() {
        AttributeType::L => {
            let nothing = UpdateOperand::Value(Value::from(AttributeValue::L(Vec::new())));
            let present = UpdateOperand::IfNotExists(path.clone(), Box::new(nothing));
            let more = UpdateOperand::Value(Value::from(value));
            let appended = UpdateOperand::ListAppend(Box::new(present), Box::new(more));
            update.set.push(SetAction { path, value: SetValue::Operand(appended) });
        }
        kind if kind == AttributeType::N || kind.is_set() => update.add.push((path, Value::from(value))),
        kind => return Err(legacy::add_type(kind)),
    }
    Ok(())
}
