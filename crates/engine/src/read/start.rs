//! Start key of a page: the key at which the previous page ended.

use keyform_core::error::read as texts;
use keyform_core::value::AttributeType;
use keyform_core::{Attributes, Error, Item};

use super::source::Source;
use crate::catalog::KeyAttribute;
use crate::item_key;

/// Returns the store key of the entry that a start key names.
///
/// # Errors
/// When the start key is not a key of the source.
pub fn store_key(source: &Source, start: &Attributes) -> Result<Vec<u8>, Error> {
    let fits = |attribute: &KeyAttribute| {
        start.get(&attribute.name).is_some_and(|value| value.kind() == AttributeType::from(attribute.kind))
    };
    let all_fit = source.key().attributes().chain(source.table.key.attributes()).all(fits);
    let none_else = start.keys().all(|name| source.is_position(name));
    if !all_fit || !none_else {
        return Err(texts::start_key_is_invalid());
    }
    let item = Item::from(start);
    let key = match source.index() {
        Some(index) => item_key::of_index_entry(&source.table, index, &item),
        None => item_key::of_new_item(&source.table, start).ok().map(|key| key.store_key),
    };
    key.ok_or_else(texts::start_key_is_invalid)
}

/// Returns the key attributes of an entry, which the next request sends as its start key.
pub fn of_entry(source: &Source, entry: &Item) -> Item {
    entry.filtered(|name| source.is_position(name))
}
