//! Links from before workspaces, when an item's id was the SHA-256 of its content.

use keyform::{CallError, Uuid};

use crate::legacy;
use crate::model::{Item, ItemId, Workspaces};

/// Returns the new id of an item with an old id. It is derived from the old id alone, so that a link needs no look-up.
#[must_use]
pub fn item_id(hash: &str) -> ItemId {
    Uuid::of(hash).into()
}

/// Returns the item with an old id. It is in the workspace that received the old items, whether or not it was already
/// migrated.
///
/// # Errors
/// [`CallError::Forbidden`] if the handle's caller is not a member of that workspace, and other errors of a read.
pub async fn item(workspaces: &Workspaces, hash: &str) -> Result<Option<Item>, CallError> {
    let found = workspaces.item_by_id(&legacy::home(), &item_id(hash)).await?;
    // Callers cannot choose the id of a new item, but only `legacy_hash` proves that the item is an old one.
    Ok(found.filter(|item| item.legacy_hash.as_deref() == Some(hash)))
}
