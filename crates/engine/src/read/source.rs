//! Where a page comes from: the table or one of its indexes, and what may be asked of it.

use std::sync::Arc;

use keyform_core::Error;
use keyform_core::error::read as texts;
use keyform_core::expression::{Path, Projection};
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

    /// Checks that an index has what a Query filters by: also a local one does not fetch items for a filter.
    ///
    /// # Errors
    /// When it has not.
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
