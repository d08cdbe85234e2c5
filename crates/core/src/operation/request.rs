//! Properties that every request and every response has.

use std::collections::BTreeMap;
use std::fmt;

use super::address::Addresses;
use super::{
    BatchExecuteStatementOutput, BatchGetItemOutput, BatchWriteItemOutput, ContinuousBackups, DescribeLimitsOutput,
    ExecuteStatementOutput, ExecuteTransactionOutput, GetItemOutput, GetRecordsOutput, ListStreamsOutput,
    ListTablesOutput, ListTagsOfResourceOutput, Operation, OperationKind, Output, PageOutput, StreamDescription,
    TimeToLive, TimeToLiveStatus, TransactGetItemsOutput, TransactWriteItemsOutput, WriteItemOutput,
};
use crate::error::Error;
use crate::table::TableDescription;
use crate::value::Item;

/// Request of one operation. The list of operations implements it.
pub trait Request: Addresses + Into<Operation> + Clone + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// Type of the response.
    type Output: Response;

    /// Operation that the request belongs to.
    const KIND: OperationKind;

    /// The service's name of the operation.
    const NAME: &'static str = Self::KIND.name();

    /// Extracts the response to this request.
    ///
    /// # Errors
    /// InternalServerError if the store returned the response to another operation.
    fn from_output(output: Output) -> Result<Self::Output, Error>;

    /// Returns the response as an [`Output`].
    fn into_output(output: Self::Output) -> Output;
}

/// Response to an operation.
pub trait Response: Clone + fmt::Debug + PartialEq + Send + Sync + 'static {
    /// Returns the bytes of the items that a read returned; their JSON is slightly larger.
    fn item_bytes(&self) -> usize {
        0
    }

    /// Calls the function with the name of each table that the response describes or has a member for. Capacity reports
    /// keep the store's names.
    fn rename_tables(&mut self, _rename: &mut dyn FnMut(&mut String)) {}
}

impl Response for GetItemOutput {
    fn item_bytes(&self) -> usize {
        bytes(&self.item)
    }
}

impl Response for PageOutput {
    fn item_bytes(&self) -> usize {
        self.items.as_ref().map_or(0, bytes)
    }
}

impl Response for BatchGetItemOutput {
    fn item_bytes(&self) -> usize {
        self.responses.values().map(bytes).sum()
    }

    fn rename_tables(&mut self, rename: &mut dyn FnMut(&mut String)) {
        rename_keys(&mut self.responses, rename);
        rename_keys(&mut self.unprocessed, rename);
    }
}

impl Response for TransactGetItemsOutput {
    fn item_bytes(&self) -> usize {
        self.responses.iter().map(bytes).sum()
    }
}

impl Response for BatchWriteItemOutput {
    fn rename_tables(&mut self, rename: &mut dyn FnMut(&mut String)) {
        rename_keys(&mut self.unprocessed, rename);
    }
}

impl Response for Box<TableDescription> {
    fn rename_tables(&mut self, rename: &mut dyn FnMut(&mut String)) {
        rename(&mut self.name);
    }
}

impl Response for () {}
impl Response for String {}
impl Response for BatchExecuteStatementOutput {}
impl Response for ContinuousBackups {}
impl Response for DescribeLimitsOutput {}
impl Response for ExecuteStatementOutput {}
impl Response for ExecuteTransactionOutput {}
impl Response for GetRecordsOutput {}
impl Response for ListStreamsOutput {}
impl Response for ListTablesOutput {}
impl Response for ListTagsOfResourceOutput {}
impl Response for StreamDescription {}
impl Response for TimeToLive {}
impl Response for TimeToLiveStatus {}
impl Response for TransactWriteItemsOutput {}
impl Response for WriteItemOutput {}

fn bytes<'a>(items: impl IntoIterator<Item = &'a Item>) -> usize {
    items.into_iter().map(|item| item.as_bytes().len()).sum()
}

fn rename_keys<V>(tables: &mut BTreeMap<String, V>, rename: &mut dyn FnMut(&mut String)) {
    let renamed = std::mem::take(tables).into_iter().map(|(mut table, value)| {
        rename(&mut table);
        (table, value)
    });
    *tables = renamed.collect();
}
