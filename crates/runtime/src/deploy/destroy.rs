//! Resources that may be removed, and which of the given names were used.

use super::live::Live;

/// Names of the resources that may be removed.
pub(super) struct Destroy<'a> {
    names: &'a [String],
    used: Vec<bool>,
    /// Names of all global indexes; a name appears once per table that has it.
    indexes: Vec<&'a str>,
}

impl<'a> Destroy<'a> {
    pub(super) fn new(names: &'a [String], live: &'a [Live]) -> Self {
        let indexes = live.iter().flat_map(|live| &live.description.global_indexes);
        Self {
            names,
            used: vec![false; names.len()],
            indexes: indexes.map(|index| index.index.name.as_str()).collect(),
        }
    }

    /// Returns whether the table may be removed.
    pub(super) fn table(&mut self, table: &str) -> bool {
        self.take(table)
    }

    /// Returns whether a part of a table may be removed, such as `TABLE/stream`.
    pub(super) fn part(&mut self, table: &str, part: &str) -> bool {
        self.take(&format!("{table}/{part}"))
    }

    /// Returns whether an index may be removed: as `TABLE/INDEX`, or as `INDEX` if only one table has an index of that
    /// name.
    pub(super) fn index(&mut self, table: &str, index: &str) -> bool {
        let tables = self.indexes.iter().filter(|name| **name == index).count();
        self.part(table, index) || tables == 1 && self.take(index)
    }

    /// Returns the name that permits removing a part of a table.
    pub(super) fn name(table: &str, part: &str) -> String {
        format!("{table}/{part}")
    }

    fn take(&mut self, name: &str) -> bool {
        let place = self.names.iter().position(|given| given == name);
        if let Some(place) = place {
            self.used[place] = true;
        }
        place.is_some()
    }

    /// Returns a note for each unused name. Not an error, because a repeated deploy has already removed it.
    pub(super) fn without_object(&self) -> Vec<String> {
        let idle = self.names.iter().zip(&self.used).filter(|(_, used)| !**used);
        idle.map(|(name, _)| match self.indexes.iter().filter(|index| *index == name).count() {
            0 | 1 => format!("destroy {name}: nothing with this name needs to be removed"),
            _ => format!("destroy {name}: several tables have an index with this name; write TABLE/{name}"),
        })
        .collect()
    }
}
