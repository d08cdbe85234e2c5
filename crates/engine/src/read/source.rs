//! Source of a page: the table or one of its indexes, and its restrictions.

use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error::read as texts;
use keyform_core::expression::{Path, Projection};
use keyform_core::operation::Select;

use crate::catalog::{Index, KeyLayout, Projected, Table};
use crate::key_space::IndexId;

/// Table, or one of its indexes.
pub struct Source {
    /// Table at the time of the request.
    pub table: Arc<Table>,
    index: Option<usize>,
}

/// Attributes of an entry in the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attributes {
    /// Attributes that the source has.
    OfSource,
    /// All attributes of the item; for a local index that lacks some, the item is fetched.
    OfItem,
    /// No attributes, only the count.
    None,
}

impl Source {
    /// Returns the source that a request names.
    ///
    /// # Errors
    /// When the table has no such index, or the index does not support the read.
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

    /// Returns the index, or `None` for the table itself.
    pub fn index(&self) -> Option<&Index> {
        self.index.map(|place| &self.table.indexes[place])
    }

    /// Returns the index number in the store keys of the entries.
    pub fn id(&self) -> IndexId {
        self.index().map_or(IndexId::BASE, |index| index.id)
    }

    /// Returns the key by which entries are sorted.
    pub fn key(&self) -> &KeyLayout {
        self.index().map_or(&self.table.key, |index| &index.key)
    }

    /// Returns whether the attribute is part of the key that a Query's key condition uses.
    pub fn has_key(&self, name: &str) -> bool {
        self.key().contains(name)
    }

    /// Returns whether the attribute is part of a start key: a key attribute of the index or of the table.
    pub fn is_position(&self, name: &str) -> bool {
        self.key().contains(name) || self.table.key.contains(name)
    }

    /// Returns the attributes in the response for the request's selection and projection.
    ///
    /// # Errors
    /// When a global index lacks the requested attributes.
    pub fn attributes(&self, select: Option<Select>, projection: Option<&Projection>) -> Result<Attributes, Error> {
        let index = match (self.index(), select) {
            (_, Some(Select::Count)) => return Ok(Attributes::None),
            (None, _) => return Ok(Attributes::OfSource),
            (Some(index), _) => index,
        };
        let lacking: Vec<&str> = projection.map_or_else(Vec::new, |projection| {
            projection.paths.iter().map(Path::root).filter(|name| !index.projected.contains(name)).collect()
        });
        let all = matches!(index.projected, Projected::All) || select != Some(Select::AllAttributes);
        match (all, lacking.is_empty(), index.is_local()) {
            (true, true, _) => Ok(Attributes::OfSource),
            (_, _, true) => Ok(Attributes::OfItem),
            (false, _, false) => Err(texts::global_index_has_not_all(&index.name)),
            (true, false, false) => Err(texts::global_index_lacks(&index.name, &lacking.join(", "))),
        }
    }

    /// Checks that an index has the attributes that a Query filters by. Even a local index does not fetch items for a
    /// filter.
    ///
    /// # Errors
    /// When the index does not project an attribute.
    pub fn check_filtered(&self, names: &[&str]) -> Result<(), Error> {
        let Some(index) = self.index() else { return Ok(()) };
        let mut lacking: Vec<&str> = names.iter().copied().filter(|name| !index.projected.contains(name)).collect();
        lacking.sort_unstable();
        lacking.dedup();
        if lacking.is_empty() {
            Ok(())
        } else {
            Err(texts::index_lacks_filter_attributes(&index.name, &lacking.join(", ")))
        }
    }
}
