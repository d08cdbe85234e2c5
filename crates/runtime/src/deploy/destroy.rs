//! What may be removed: the names someone gave, and which of them had a use.

use super::live::Live;

/// The names of what may be removed.
pub(super) struct Destroy<'a> {
    names: &'a [String],
    used: Vec<bool>,
    /// The names of all indexes, once for each table that has one of that name.
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

    /// Whether the table may be removed.
    pub(super) fn table(&mut self, table: &str) -> bool {
        self.take(table)
    }

    /// Whether something of a table may be removed: `TABLE/stream`.
    pub(super) fn part(&mut self, table: &str, part: &str) -> bool {
        self.take(&format!("{table}/{part}"))
    }

    /// Whether an index may be removed: `TABLE/INDEX`, or `INDEX` alone where only one table has one of that name.
    pub(super) fn index(&mut self, table: &str, index: &str) -> bool {
        let tables = self.indexes.iter().filter(|name| **name == index).count();
        self.part(table, index) || tables == 1 && self.take(index)
    }

    /// What to write so that an index may be removed.
    pub(super) fn how(table: &str, part: &str) -> String {
        format!("--destroy {table}/{part}")
    }

    fn take(&mut self, name: &str) -> bool {
        let place = self.names.iter().position(|given| given == name);
        if let Some(place) = place {
            self.used[place] = true;
        }
        place.is_some()
    }

    /// A word on each name that was given for nothing: a repeated deploy finds its work done.
    pub(super) fn without_object(&self) -> Vec<String> {
        let idle = self.names.iter().zip(&self.used).filter(|(_, used)| !**used);
        idle.map(|(name, _)| match self.indexes.iter().filter(|index| *index == name).count() {
            0 | 1 => format!("--destroy {name}: nothing of that name needs to be removed"),
            _ => format!("--destroy {name}: several tables have an index of that name; write TABLE/{name}"),
        })
        .collect()
    }
}
