//! Links from before workspaces: an item was known by the SHA-256 of its content.

use keyform::{CallError, Uuid};

use crate::legacy;
use crate::model::{Item, ItemId, Workspaces};

/// The id that an item with this old one has now. It is made of the old one alone, so that a link needs no look-up.
#[must_use]
pub fn item_id(hash: &str) -> ItemId {
    Uuid::of(hash).into()
}

/// The item that had this id. It is in the one workspace into which the old items went, whether or not it was carried over already.
///
/// # Errors
/// [`CallError::Forbidden`] if the handle's caller is no member of that workspace, and what else a read may meet.
pub async fn item(workspaces: &Workspaces, hash: &str) -> Result<Option<Item>, CallError> {
    let found = workspaces.item_by_id(&legacy::home(), &item_id(hash)).await?;
    // Whoever makes an item may not choose its id, but nothing else says whether the item is an old one.
    Ok(found.filter(|item| item.legacy_hash.as_deref() == Some(hash)))
}
