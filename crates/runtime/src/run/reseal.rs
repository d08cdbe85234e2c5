//! Re-encrypts fields under the current primary key after a key rotation, page by page.
//!
//! Each update has the condition that the encrypted bytes are still those that were read, so a concurrent write is
//! never lost; it already encrypted under the primary key. Values, versions and timestamps stay unchanged. A plain
//! value in a field that became encrypted later is encrypted.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use keyform_core::expression::{Comparator, Condition, Operand, Path, SetAction, SetValue, Update, UpdateOperand};
use keyform_core::operation::{Scan, UpdateItem};
use keyform_core::{AttributeValue, Attributes, ErrorCode, Item};

use crate::seal::{Keyring, SealError, Sealing, sealed_under};
use keyform_language::bind::{Seal as _, SealedField};
use keyform_language::schema::{EntityId, Field, Table, TableId};

use super::{RunError, Runner, found};

/// Page size of the scan.
const PAGE_ITEMS: usize = 200;
const SALT_BYTES: usize = 16;

/// Progress of a reseal run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resealed {
    /// Items with encrypted fields that were read.
    pub seen: u64,
    /// Items that were re-encrypted.
    pub changed: u64,
    /// Items that a concurrent write changed first; that write encrypted them under the primary key.
    pub overtaken: u64,
    /// Token to continue with; `None` at the end.
    pub next: Option<String>,
}

impl Runner {
    /// Re-encrypts the next page of items, from the beginning or from the token of an earlier page. Skips values that
    /// the primary key encrypted, so running it again changes nothing.
    ///
    /// # Errors
    ///
    /// Returns a [`RunError`] if a value cannot be decrypted, the store fails, or `from` is not a token of an earlier
    /// page.
    pub async fn reseal(&self, from: Option<&str>) -> Result<Resealed, RunError> {
        let tables = self.sealed_tables();
        let (place, start) = match from {
            None => (0, None),
            Some(text) => self.point(&tables, text).ok_or(RunError::Cursor)?,
        };
        let (Some(ring), Some(&table)) = (&self.settings.field_keys, tables.get(place)) else {
            return Ok(Resealed::default());
        };
        let scan = Scan {
            limit: Some(PAGE_ITEMS),
            consistent: true,
            start: start.clone(),
            ..Scan::of(self.checked.model.table(table).physical.clone())
        };
        let page = self.call(scan).await?;
        page.ensure_progress(start.as_ref())?;
        let mut done = Resealed::default();
        for item in page.items.iter().flatten() {
            self.reseal_item(ring, table, item, &mut done).await?;
        }
        done.next = match page.last_key {
            Some(last) => Some(self.token(table, Some(&last))),
            None => tables.get(place + 1).map(|&next| self.token(next, None)),
        };
        Ok(done)
    }

    /// Returns the tables with encrypted fields.
    fn sealed_tables(&self) -> Vec<TableId> {
        let model = &self.checked.model;
        let holds = |id: &TableId| model.entities_of(*id).any(|(_, entity)| entity.encrypted_fields().next().is_some());
        (0..model.tables.len()).map(TableId).filter(holds).collect()
    }

    /// Encodes a position: the table's name and the last key read from it.
    fn token(&self, table: TableId, last: Option<&Item>) -> String {
        let name = self.checked.model.table(table).name.as_str();
        last.map_or_else(|| name.to_owned(), |last| format!("{name}.{}", URL_SAFE_NO_PAD.encode(last.as_bytes())))
    }

    fn point(&self, tables: &[TableId], text: &str) -> Option<(usize, Option<Attributes>)> {
        let (name, key) = text.split_once('.').map_or((text, None), |(name, key)| (name, Some(key)));
        let place = tables.iter().position(|&table| self.checked.model.table(table).name == name)?;
        let Some(key) = key else { return Some((place, None)) };
        let item = Item::decode(Bytes::from(URL_SAFE_NO_PAD.decode(key).ok()?)).ok()?;
        Some((place, Some(item.to_attributes())))
    }

    async fn reseal_item(
        &self,
        ring: &Keyring,
        table: TableId,
        item: &Item,
        done: &mut Resealed,
    ) -> Result<(), RunError> {
        let model = &self.checked.model;
        let all: Vec<EntityId> = model.entities_of(table).map(|(id, _)| id).collect();
        let Some(entity) = found::entity_of(model, &all, item).map(|id| model.entity(id)) else { return Ok(()) };
        let key = key_of(model.table(table), item);
        let name = self.checked.model.table(table).physical.clone();
        let mut changes = Vec::new();
        for field in entity.encrypted_fields() {
            let place = SealedField { table: &name, key: &key, entity: &entity.name, field: &field.name };
            let Some(old) = item.get(&field.name).map(|value| value.to_tree()) else { continue };
            if sealed_under(&old) == Some(ring.primary().id()) {
                continue;
            }
            let plain = match ring.open(&place, &old) {
                Err(SealError::NotSealed { .. }) => old.clone(),
                opened => opened?,
            };
            let salt = self.world.token(SALT_BYTES);
            changes.push((field, old, Sealing { ring, salt }.seal(&place, &plain)));
        }
        done.seen += u64::from(entity.encrypted_fields().next().is_some());
        if changes.is_empty() {
            return Ok(());
        }
        match self.call(update(name, key, changes)).await {
            Ok(_) => done.changed += 1,
            Err(error) if error.code() == ErrorCode::ConditionalCheckFailed => done.overtaken += 1,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

fn key_of(table: &Table, item: &Item) -> Attributes {
    item.filtered(|name| table.key_names().any(|key| key == name)).to_attributes()
}

/// Sets each field to its new bytes, on the condition that all fields still have the old ones.
fn update(table: String, key: Attributes, changes: Vec<(&Field, AttributeValue, AttributeValue)>) -> UpdateItem {
    let mut update = Update::default();
    let mut tests = Vec::new();
    for (field, old, new) in changes {
        let path = Path::attribute(field.name.clone());
        tests.push(Condition::Compare {
            left: Operand::Path(path.clone()),
            comparator: Comparator::Equal,
            right: Operand::Value(old.into()),
        });
        update.set.push(SetAction { path, value: SetValue::Operand(UpdateOperand::Value(new.into())) });
    }
    let condition = if tests.len() == 1 { tests.pop() } else { Some(Condition::And(tests)) };
    UpdateItem { table, key, update: Some(update), options: condition.into() }
}
