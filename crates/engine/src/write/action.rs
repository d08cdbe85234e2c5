//! One write of one item, validated but not yet evaluated: effect, key and condition.

use keyform_core::error::item as texts;
use keyform_core::error::request::nested_too_deep;
use keyform_core::expression::{Condition, Update, update};
use keyform_core::limits::ITEM_BYTES_MAX;
use keyform_core::operation::{ItemCollectionMetrics, ReturnItemCollectionMetrics};
use keyform_core::value::{name, size};
use keyform_core::{Attributes, Error, Item};

use crate::catalog::Table;
use crate::item_key::{self, ItemKey};

/// Write of one item.
pub struct Action<'a> {
    pub table: &'a Table,
    pub key: ItemKey,
    /// Key attributes of the request, or the whole new item of a put.
    pub source: &'a Attributes,
    pub effect: Effect<'a>,
    pub condition: Option<&'a Condition>,
    pub return_item_on_failure: bool,
}

/// Effect of a write.
pub enum Effect<'a> {
    /// Replaces the item.
    Put(Item),
    /// Changes the item, or creates it from the key.
    Update(Option<&'a Update>),
    /// Deletes the item.
    Delete,
    /// Changes nothing; only checks the condition.
    Check,
}

impl<'a> Action<'a> {
    pub fn put(table: &'a Table, item: &'a Attributes) -> Result<Self, Error> {
        let key = item_key::of_new_item(table, item)?;
        item_key::check_index_keys(table, item)?;
        check_extent(item)?;
        Ok(Self::new(table, key, item, Effect::Put(Item::from(item))))
    }

    /// Checks a new item for errors that do not depend on stored data: an empty key, its size or its depth.
    pub fn refuse_outright(table: &Table, item: &Attributes) -> Result<(), Error> {
        item_key::refuse_empty(table, item)?;
        check_extent(item)
    }

    pub fn update(table: &'a Table, key: &'a Attributes, update: Option<&'a Update>) -> Result<Self, Error> {
        let place = item_key::of_request(table, key)?;
        check_keys_untouched(table, update)?;
        Ok(Self::new(table, place, key, Effect::Update(update)))
    }

    pub fn delete(table: &'a Table, key: &'a Attributes) -> Result<Self, Error> {
        Ok(Self::new(table, item_key::of_request(table, key)?, key, Effect::Delete))
    }

    pub fn check(table: &'a Table, key: &'a Attributes) -> Result<Self, Error> {
        Ok(Self::new(table, item_key::of_request(table, key)?, key, Effect::Check))
    }

    fn new(table: &'a Table, key: ItemKey, source: &'a Attributes, effect: Effect<'a>) -> Self {
        Self { table, key, source, effect, condition: None, return_item_on_failure: false }
    }

    /// Adds the condition.
    ///
    /// # Errors
    /// When the condition reaches into a key attribute.
    pub fn conditioned(
        mut self,
        condition: Option<&'a Condition>,
        return_item_on_failure: bool,
    ) -> Result<Self, Error> {
        if let Some(condition) = condition {
            item_key::check_scalar_keys(self.table, condition.paths())?;
        }
        self.condition = condition;
        self.return_item_on_failure = return_item_on_failure;
        Ok(self)
    }

    /// Returns the size of the item collection of the write, for tables with local indexes. Collections are not
    /// measured; the reported range is always 0 to 1 GB.
    pub fn collection_metrics(&self, wanted: ReturnItemCollectionMetrics) -> Option<ItemCollectionMetrics> {
        if wanted == ReturnItemCollectionMetrics::None || !self.table.has_local_index() {
            return None;
        }
        let partition =
            self.table.key.partition.iter().filter_map(|attribute| self.source.get_key_value(&attribute.name));
        let key = partition.map(|(name, value)| (name.clone(), value.clone())).collect();
        Some(ItemCollectionMetrics { key, size_gigabytes: [0.0, 1.0] })
    }

    /// Returns the size that the action adds to the 4 MB limit of a transaction: the written item, or else the key. The
    /// item that a delete or a check finds does not count, because it is not part of the request.
    pub fn bytes(&self, new: Option<&Item>) -> usize {
        match &self.effect {
            Effect::Put(item) => item.size(),
            Effect::Update(_) => new.map_or_else(|| size::of_attributes(self.source), Item::size),
            Effect::Delete | Effect::Check => size::of_attributes(self.source),
        }
    }

    /// Returns the item after the write, given the one before. Fails if the condition does not hold.
    pub fn decide(&self, old: Option<&Item>) -> Result<Option<Item>, Error> {
        if !self.condition.is_none_or(|condition| condition.holds(old)) {
            return Err(texts::condition_failed(old.filter(|_| self.return_item_on_failure).cloned()));
        }
        match &self.effect {
            Effect::Put(item) => Ok(Some(item.clone())),
            Effect::Update(update) => {
                let after = updated(self.table, self.source, *update, old)?;
                let makes_item = old.is_some() || !update.is_some_and(Update::only_removes);
                Ok(makes_item.then_some(after))
            }
            Effect::Delete => Ok(None),
            Effect::Check => Ok(old.cloned()),
        }
    }
}

/// Checks the size, the depth (a deeper item could not be decoded) and the attribute names of a new item. The request
/// parser also checks names; this covers items from other sources: imported files, copies, in-process calls.
fn check_extent(item: &Attributes) -> Result<(), Error> {
    name::check_all(item)?;
    if size::of_attributes(item) > ITEM_BYTES_MAX {
        return Err(texts::item_too_large());
    }
    if size::is_too_deep(item) { Err(nested_too_deep()) } else { Ok(()) }
}

fn check_keys_untouched(table: &Table, update: Option<&Update>) -> Result<(), Error> {
    let Some(update) = update else { return Ok(()) };
    match update.touched_paths().find(|path| table.key.contains(path.root())) {
        Some(path) => Err(texts::cannot_update_key(path.root())),
        None => item_key::check_scalar_keys(table, update.paths()),
    }
}

fn updated(table: &Table, key: &Attributes, change: Option<&Update>, old: Option<&Item>) -> Result<Item, Error> {
    let Some(change) = change else { return Ok(old.cloned().unwrap_or_else(|| Item::from(key))) };
    let after = match old {
        Some(item) => update::apply(change, &item.to_attributes())?,
        None => update::create(change, key)?,
    };
    item_key::check_updated_index_keys(table, change, &after)?;
    if size::of_attributes(&after) > ITEM_BYTES_MAX {
        return Err(texts::updated_item_too_large());
    }
    Ok(Item::from(&after))
}
