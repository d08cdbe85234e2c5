//! Deletes an item in a cascade: the item and the sentinels of its unique values.

use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::operation::TransactAction;
use keyform_core::{AttributeValue, Attributes};

use crate::schema::{EntityId, FieldId, Model};

use super::expiry::Expiry;
use super::write::{key_of, unchanged, values_before};
use super::{BindError, sentinel};

/// Returns the actions that delete an item as it was read. The first action fails if the item no longer refers to its
/// parent or its unique values have changed.
///
/// # Errors
///
/// Returns an error if a unique value cannot be written in a key.
pub fn removal(
    model: &Model,
    id: EntityId,
    item: &Attributes,
    refers: &[(FieldId, AttributeValue)],
    now_millis: i64,
) -> Result<Vec<TransactAction>, BindError> {
    let entity = model.entity(id);
    let Some(table) = entity.table.map(|table| model.table(table)) else { return Ok(Vec::new()) };
    let keys = entity.key_fields();
    let mut tests: Vec<Condition> = refers
        .iter()
        .filter(|(field, _)| !keys.contains(field))
        .map(|(field, value)| equal(&entity.field(*field).name, value))
        .collect();
    let guarded: Vec<FieldId> = crate::plan::guarded_fields(entity).collect();
    let mut releases = Vec::new();
    if !guarded.is_empty() {
        let ended = Expiry::of(table, entity, now_millis).filter(|expiry| expiry.ended(item));
        match ended {
            // ADR 0017: another item may already have claimed the unique values of an expired item, so its sentinels
            // stay.
            Some(expiry) => {
                let end = &entity.field(expiry.field).name;
                tests.extend(item.get(end).map(|value| equal(end, value)));
            }
            None => {
                let before = values_before(entity, &guarded, None, Some(item), &Default::default());
                tests.extend(unchanged(entity, &guarded, &before));
                for field in guarded {
                    releases.extend(sentinel::key(table, entity, field, &before)?);
                }
            }
        }
    }
    let condition = if tests.len() > 1 { Some(Condition::And(tests)) } else { tests.pop() };
    let name = table.physical.clone();
    let delete = TransactAction::Delete {
        table: name.clone(),
        key: key_of(table, item),
        condition,
        return_item_on_failure: false,
    };
    let releases = releases.into_iter().map(|key| sentinel::release(name.clone(), key));
    Ok([delete].into_iter().chain(releases).collect())
}

fn equal(name: &str, value: &AttributeValue) -> Condition {
    Condition::Compare {
        left: Operand::Path(Path::attribute(name)),
        comparator: Comparator::Equal,
        right: Operand::Value(value.clone().into()),
    }
}
