//! Requests that answer pages of items.

use crate::Error;
use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::expression::{Condition, KeyCondition, Projection};
use crate::value::{Attributes, Item};

/// What a page carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    /// All attributes.
    AllAttributes,
    /// What the index has.
    AllProjectedAttributes,
    /// What the projection names.
    SpecificAttributes,
    /// Only how many items there are.
    Count,
}

/// Reads the items of one partition in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Of which table, by name or ARN.
    pub table: String,
    /// Through which index.
    pub index: Option<String>,
    /// Which partition, and which part of it.
    pub key: KeyCondition,
    /// What of it to leave out; it is read and paid nevertheless.
    pub filter: Option<Condition>,
    /// Which attributes are wanted.
    pub projection: Option<Projection>,
    /// What the page carries, if stated.
    pub select: Option<Select>,
    /// How many items to read at the most.
    pub limit: Option<usize>,
    /// Whether the newest state is wanted.
    pub consistent: bool,
    /// Descending order.
    pub reverse: bool,
    /// Where the last page ended.
    pub start: Option<Attributes>,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
}

/// Reads a whole table or index.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// Which table, by name or ARN.
    pub table: String,
    /// Through which index.
    pub index: Option<String>,
    /// What to leave out.
    pub filter: Option<Condition>,
    /// Which attributes are wanted.
    pub projection: Option<Projection>,
    /// What the page carries, if stated.
    pub select: Option<Select>,
    /// How many items to read at the most.
    pub limit: Option<usize>,
    /// Whether the newest state is wanted.
    pub consistent: bool,
    /// Which part of a parallel scan.
    pub segment: Option<Segment>,
    /// Where the last page ended.
    pub start: Option<Attributes>,
    /// How much of the consumption is wanted.
    pub return_capacity: ReturnConsumedCapacity,
}

impl Scan {
    /// All of a table, eventually consistent.
    #[must_use]
    pub fn of(table: impl Into<String>) -> Self {
        Self {
            table: table.into(),
            index: None,
            filter: None,
            projection: None,
            select: None,
            limit: None,
            consistent: false,
            segment: None,
            start: None,
            return_capacity: ReturnConsumedCapacity::default(),
        }
    }
}

/// One part of a parallel scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Which part, from zero.
    pub number: u32,
    /// Of how many.
    pub total: u32,
}

/// The answer of Query and Scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOutput {
    /// The items; nothing when only the count was wanted.
    pub items: Option<Vec<Item>>,
    /// How many items passed the filter.
    pub count: usize,
    /// How many items were read.
    pub scanned: usize,
    /// Where the next page starts, if there may be one.
    pub last_key: Option<Item>,
    /// What it consumed.
    pub capacity: Option<ConsumedCapacity>,
}

impl PageOutput {
    /// Makes sure that the page ends after the `start` it was asked from, so that a loop over pages ends: each page moves on through finitely many
    /// keys.
    ///
    /// # Errors
    /// An InternalServerError if the store answers with the position that it was given.
    pub fn ensure_progress(&self, start: Option<&Attributes>) -> Result<(), Error> {
        let stays = self.last_key.as_ref().zip(start).is_some_and(|(last, start)| last.to_attributes() == *start);
        if stays {
            return Err(Error::internal(
                "the store answered with the LastEvaluatedKey that it was given as ExclusiveStartKey: reading on would never end",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_ends_where_it_began_is_an_error() {
        let key = |text: &str| Attributes::from([("pk".to_owned(), text.into())]);
        let page = |last: Option<&str>| PageOutput {
            last_key: last.map(|last| Item::from(&key(last))),
            ..PageOutput::default()
        };
        for (last, start, moves) in [
            (None, None, true),
            (None, Some("a"), true),
            (Some("a"), None, true),
            (Some("b"), Some("a"), true),
            (Some("a"), Some("a"), false),
        ] {
            assert_eq!(page(last).ensure_progress(start.map(key).as_ref()).is_ok(), moves, "{last:?} after {start:?}");
        }
    }
}
