//! Requests that return pages of items.

use super::Request;
use crate::Error;
use crate::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use crate::expression::{Condition, KeyCondition, Projection};
use crate::value::{Attributes, Item};

/// Attributes that a page returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Select {
    /// All attributes of the item.
    AllAttributes,
    /// All attributes projected into the index.
    AllProjectedAttributes,
    /// The attributes of the projection expression.
    SpecificAttributes,
    /// Only the number of items.
    Count,
}

/// Reads the items of one partition in sort key order.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Table name or ARN.
    pub table: String,
    /// Secondary index to read instead of the table.
    pub index: Option<String>,
    /// Partition key and optional sort key range.
    pub key: KeyCondition,
    /// Filter applied after reading; items it drops still consume capacity and count towards the limit.
    pub filter: Option<Condition>,
    /// Attributes to return; all without a projection.
    pub projection: Option<Projection>,
    /// Attribute selection, if the request has one.
    pub select: Option<Select>,
    /// Maximum number of items to read, before the filter.
    pub limit: Option<usize>,
    /// Strongly consistent read.
    pub consistent: bool,
    /// Descending sort key order.
    pub reverse: bool,
    /// Exclusive start key: [`PageOutput::last_key`] of the previous page.
    pub start: Option<Attributes>,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
}

/// Reads a whole table or index.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// Table name or ARN.
    pub table: String,
    /// Secondary index to read instead of the table.
    pub index: Option<String>,
    /// Filter applied after reading; items it drops still consume capacity and count towards the limit.
    pub filter: Option<Condition>,
    /// Attributes to return; all without a projection.
    pub projection: Option<Projection>,
    /// Attribute selection, if the request has one.
    pub select: Option<Select>,
    /// Maximum number of items to read, before the filter.
    pub limit: Option<usize>,
    /// Strongly consistent read.
    pub consistent: bool,
    /// Segment of a parallel scan; the whole table if absent.
    pub segment: Option<Segment>,
    /// Exclusive start key: [`PageOutput::last_key`] of the previous page.
    pub start: Option<Attributes>,
    /// Level of detail of the reported capacity.
    pub return_capacity: ReturnConsumedCapacity,
}

impl Scan {
    /// Returns a scan of a whole table, eventually consistent.
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

/// One segment of a parallel scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Segment number, starting at zero.
    pub number: u32,
    /// Total number of segments.
    pub total: u32,
}

/// Response of Query and Scan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOutput {
    /// Items that passed the filter; `None` for [`Select::Count`].
    pub items: Option<Vec<Item>>,
    /// Number of items that passed the filter.
    pub count: usize,
    /// Number of items read, before the filter.
    pub scanned: usize,
    /// Start key of the next page; `None` after the last page.
    pub last_key: Option<Item>,
    /// Consumed capacity, if the request asked for it.
    pub capacity: Option<ConsumedCapacity>,
}

/// Query and Scan, which return a page and continue at its end.
pub trait PageRequest: Request<Output = PageOutput> {
    /// Returns the exclusive start key.
    fn start_mut(&mut self) -> &mut Option<Attributes>;
}

impl PageRequest for Query {
    fn start_mut(&mut self) -> &mut Option<Attributes> {
        &mut self.start
    }
}

impl PageRequest for Scan {
    fn start_mut(&mut self) -> &mut Option<Attributes> {
        &mut self.start
    }
}

impl PageOutput {
    /// Checks that the page ends after the `start` key of its request. Each page then advances through finitely many
    /// keys, so a loop over pages terminates.
    ///
    /// # Errors
    /// Returns InternalServerError if the store returned the key that it was given.
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
