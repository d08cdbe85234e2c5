//! Cascade intents: durable records that the dependents of a deleted item still have to be removed (ADR 0020).
//!
//! An intent is an item of a bookkeeping table. The transaction that deletes the parent puts it, and the runtime
//! deletes it when no item refers to the parent any more:
//!
//! ```text
//! pk = chat#chat-prod   sk = Server#5f3c…   entity = Server   key = { pk, sk }   values = { serverId }   due = 1767225600000
//! ```
//!
//! Until `due`, the instance that put the intent owns it. The key of an intent is derived from its parent, so a
//! repeated request is identical.

use keyform_core::operation::TransactAction;
use keyform_core::{AttributeValue, Attributes, Item};

use crate::bookkeeping::CASCADES;
use crate::schema::{EntityId, Model};
use crate::template::render;

/// Time during which an intent belongs to the instance that put it: 30 seconds.
pub const LEASE_MILLIS: i64 = 30_000;

/// Partition key attribute of an intent: its model and table.
pub const KEY: &str = "pk";
/// Sort key attribute of an intent: its entity and the hash of the parent's key.
pub const SORT: &str = "sk";
/// Attribute with the time in milliseconds from which another instance may take the intent over.
pub const DUE: &str = "due";
const ENTITY: &str = "entity";
const TABLE: &str = "table";
const PARENT: &str = "key";
const VALUES: &str = "values";
const LATE: &str = "late";

/// A deleted item that other items refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct Parent {
    /// Entity of the deleted item.
    pub entity: EntityId,
    /// Name of its table in the store.
    pub table: String,
    /// Primary key of the deleted item.
    pub key: Attributes,
    /// Known field values by name; at least the fields of the key.
    pub values: Attributes,
    /// True if the items that refer to it are deleted with it.
    pub cascades: bool,
}

/// Returns the partition key value of the intents of a model's table.
pub fn partition(model: &Model, table: &str) -> AttributeValue {
    format!("{}#{table}", model.name).into()
}

impl Parent {
    /// Returns the primary key of its intent.
    #[must_use]
    pub fn intent_key(&self, model: &Model) -> Attributes {
        let bytes = Item::from(&self.key);
        let text = hex::encode(bytes.as_bytes());
        let hash = render::written(&crate::schema::Type::Json, crate::schema::Format::Hash, &text).unwrap_or(text);
        let sort = format!("{}#{hash}", model.entity(self.entity).name);
        [(KEY.to_owned(), partition(model, &self.table)), (SORT.to_owned(), sort.into())].into()
    }

    /// Returns the intent item. A `late` intent covers dependents that a lagging global index shows only later.
    #[must_use]
    pub fn intent(&self, model: &Model, due_millis: Option<i64>, late: bool) -> Attributes {
        let mut intent = self.intent_key(model);
        intent.insert(ENTITY.to_owned(), model.entity(self.entity).name.as_str().into());
        intent.insert(TABLE.to_owned(), self.table.as_str().into());
        intent.insert(PARENT.to_owned(), AttributeValue::M(self.key.clone()));
        intent.insert(VALUES.to_owned(), AttributeValue::M(self.values.clone()));
        intent.extend(due_millis.map(|due| (DUE.to_owned(), due.into())));
        if late {
            intent.insert(LATE.to_owned(), true.into());
        }
        intent
    }

    /// Decodes an intent into its parent and its `late` flag; `None` if the model no longer has the entity.
    #[must_use]
    pub fn of_intent(model: &Model, intent: &Attributes) -> Option<(Self, bool)> {
        let (AttributeValue::S(entity), AttributeValue::S(table)) = (intent.get(ENTITY)?, intent.get(TABLE)?) else {
            return None;
        };
        let (AttributeValue::M(key), AttributeValue::M(values)) = (intent.get(PARENT)?, intent.get(VALUES)?) else {
            return None;
        };
        let entity = model.entity_named(entity)?;
        let parent = Self { entity, table: table.clone(), key: key.clone(), values: values.clone(), cascades: true };
        Some((parent, intent.contains_key(LATE)))
    }

    /// Returns the action that puts its intent.
    pub(super) fn intend(&self, model: &Model, due_millis: Option<i64>) -> TransactAction {
        TransactAction::Put {
            table: CASCADES.to_owned(),
            item: self.intent(model, due_millis, false),
            condition: None,
            return_item_on_failure: false,
        }
    }
}
