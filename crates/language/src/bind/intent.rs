//! Deleted items that others refer to, and the intents which keep it from being forgotten that those have to go.
//!
//! An intent is an item of a table of its own. It is put in the transaction that deletes the parent, and deleted when nothing refers to the
//! parent any more:
//!
//! ```text
//! pk = chat#chat-prod   sk = Server#5f3c…   entity = Server   key = { pk, sk }   values = { serverId }   due = 1767225600000
//! ```
//!
//! Until `due` the one who put it is at work. Of one parent there is one intent, so that a repeated request is the same request.

use keyform_core::operation::TransactAction;
use keyform_core::{AttributeValue, Attributes, Item};

use crate::bookkeeping::CASCADES;
use crate::schema::{EntityId, Model};
use crate::template::render;

/// How long an intent is its maker's: half a minute.
pub const LEASE_MILLIS: i64 = 30_000;

/// Partition key attribute of an intent: which model and parent it belongs to.
pub const KEY: &str = "pk";
/// Sort key attribute of an intent.
pub const SORT: &str = "sk";
/// Attribute with the time in milliseconds from which another instance may take the intent over.
pub const DUE: &str = "due";
const ENTITY: &str = "entity";
const TABLE: &str = "table";
const PARENT: &str = "key";
const VALUES: &str = "values";
const LATE: &str = "late";

/// An item that is deleted and that others refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct Parent {
    /// Its entity.
    pub entity: EntityId,
    /// Its table in the store.
    pub table: String,
    /// Its key.
    pub key: Attributes,
    /// What is known of its fields, by name: at least those of the key.
    pub values: Attributes,
    /// Whether those that refer to it go with it.
    pub cascades: bool,
}

/// The partition of the intents of a model's table.
pub fn partition(model: &Model, table: &str) -> AttributeValue {
    format!("{}#{table}", model.name).into()
}

impl Parent {
    /// The key of its intent.
    #[must_use]
    pub fn intent_key(&self, model: &Model) -> Attributes {
        let bytes = Item::from(&self.key);
        let text: String = bytes.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        let hash = render::written(&crate::schema::Type::Json, crate::schema::Format::Hash, &text).unwrap_or(text);
        let sort = format!("{}#{hash}", model.entity(self.entity).name);
        [(KEY.to_owned(), partition(model, &self.table)), (SORT.to_owned(), sort.into())].into()
    }

    /// Its intent; a `late` one is for what an index shows only later.
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

    /// The parent of an intent that was read, and whether it is a late one; `None` if the model does not have its entity any more.
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

    /// The action that puts its intent.
    pub(super) fn intend(&self, model: &Model, due_millis: Option<i64>) -> TransactAction {
        TransactAction::Put {
            table: CASCADES.to_owned(),
            item: self.intent(model, due_millis, false),
            condition: None,
            return_item_on_failure: false,
        }
    }
}
