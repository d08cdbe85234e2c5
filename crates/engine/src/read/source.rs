//! Where a page comes from: the table or one of its indexes, and what may be asked of it.

use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error::read as texts;
use keyform_core::expression::Projection;
use keyform_core::operation::Select;

use crate::catalog::{Index, KeyLayout, Projected, Table};
use crate::layout::IndexId;

/// A table, seen through itself or through one of its indexes.
pub struct Source {
    /// The table.
    pub table: Arc<Table>,
    index: Option<usize>,
}

/// Which attributes of an entry an answer carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attributes {
    /// What the source has.
    OfSource,
    /// What the item has; a local index does not have it all, so the item is fetched.
    OfItem,
    /// None, only the count.
    None,
}

impl Source {
    /// The source that a request names.
    ///
    /// # Errors
    /// When the table has no such index, or the index cannot be read that way.
    pub fn new(table: &Arc<Table>, index: Option<&str>, consistent: bool) -> Result<Self, Error> {
        let Some(name) = index else { return Ok(Self { table: Arc::clone(table), index: None }) };
        let place = table.indexes.iter().position(|index| index.name == name);
        let place = place.ok_or_else(|| texts::no_such_index(name))?;
        let index = &table.indexes[place];
        if consistent && !index.is_local() {
            return Err(texts::consistent_global_index());
        }
        if !index.is_readable() {
            return Err(texts::index_is_being_made(name));
        }
        Ok(Self { table: Arc::clone(table), index: Some(place) })
    }

    /// The index, if the page comes through one.
    pub fn index(&self) -> Option<&Index> {
        self.index.map(|place| &self.table.indexes[place])
    }

    /// The number under which the entries stand.
    pub fn id(&self) -> IndexId {
        self.index().map_or(IndexId::BASE, |index| index.id)
    }

    /// The key by which entries are sorted.
    pub fn key(&self) -> &KeyLayout {
        self.index().map_or(&self.table.key, |index| &index.key)
    }

    /// Whether the attribute is part of the key by which a Query selects.
    pub fn has_key(&self, name: &str) -> bool {
        self.key().contains(name)
    }

    /// Whether the name belongs to a place in the source: keys of the index and of the table.
    pub fn is_position(&self, name: &str) -> bool {
        self.key().contains(name) || self.table.key.contains(name)
    }

    /// What the answer carries, by what the request selects.
    ///
    /// # Errors
    /// When a global index does not have what is asked for.
    pub fn attributes(&self, select: Option<Select>, projection: Option<&Projection>) -> Result<Attributes, Error> {
        let index = match (self.index(), select) {
            (_, Some(Select::Count)) => return Ok(Attributes::None),
            (None, _) => return Ok(Attributes::OfSource),
            (Some(index), _) => index,
        };
        let Projected::Only(names) = &index.projected else { return Ok(Attributes::OfSource) };
        let complete = match (select, projection) {
            (Some(Select::AllAttributes), _) => false,
            (_, Some(projection)) => projection.paths.iter().all(|path| names.contains(path.root())),
            (_, None) => true,
        };
        match (complete, index.is_local(), select) {
            (false, true, _) => Ok(Attributes::OfItem),
            (false, false, Some(Select::AllAttributes)) => Err(texts::global_index_has_not_all(&index.name)),
            // A global index never fetches: what it does not have is left out.
            _ => Ok(Attributes::OfSource),
        }
    }
}
