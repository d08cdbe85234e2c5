//! Tables that a request addresses.

use super::{
    BatchExecuteStatement, BatchGetItem, BatchWriteItem, CreateTable, DeleteItem, DeleteTable,
    DescribeContinuousBackups, DescribeLimits, DescribeStream, DescribeTable, DescribeTimeToLive, ExecuteStatement,
    ExecuteTransaction, GetItem, GetRecords, GetShardIterator, ListStreams, ListTables, ListTagsOfResource, PutItem,
    Query, Scan, TagResource, TransactAction, TransactGetItems, TransactWriteItems, UntagResource,
    UpdateContinuousBackups, UpdateItem, UpdateTable, UpdateTimeToLive,
};

/// A request that addresses tables, or none.
pub trait Addresses {
    /// Returns the name or ARN in the request, the first of several. `None` if the request has none, or has it inside
    /// a statement or an iterator.
    fn table(&self) -> Option<&str> {
        None
    }

    /// Calls the function with each table name in the request. Returns false if the request addresses tables in another
    /// way that a new name does not reach: by the ARN of a table or stream, in a statement, or all of them.
    fn rename_tables(&mut self, _rename: &mut dyn FnMut(&mut String)) -> bool {
        false
    }
}

macro_rules! by_name {
    ($($request:ident),+ $(,)?) => {$(
        impl Addresses for $request {
            fn table(&self) -> Option<&str> {
                Some(&self.table)
            }

            fn rename_tables(&mut self, rename: &mut dyn FnMut(&mut String)) -> bool {
                rename(&mut self.table);
                true
            }
        }
    )+};
}

macro_rules! by_arn {
    ($($request:ident),+ $(,)?) => {$(
        impl Addresses for $request {
            fn table(&self) -> Option<&str> {
                Some(&self.arn)
            }
        }
    )+};
}

macro_rules! by_list_of_names {
    ($($request:ident),+ $(,)?) => {$(
        impl Addresses for $request {
            fn table(&self) -> Option<&str> {
                self.tables.first().map(|(table, _)| table.as_str())
            }

            fn rename_tables(&mut self, rename: &mut dyn FnMut(&mut String)) -> bool {
                self.tables.iter_mut().for_each(|(table, _)| rename(table));
                true
            }
        }
    )+};
}

by_name!(CreateTable, DescribeTable, UpdateTable, DeleteTable);
by_name!(UpdateTimeToLive, DescribeTimeToLive, UpdateContinuousBackups, DescribeContinuousBackups);
by_name!(PutItem, GetItem, UpdateItem, DeleteItem, Query, Scan);
by_list_of_names!(BatchGetItem, BatchWriteItem);
by_arn!(TagResource, UntagResource, ListTagsOfResource, DescribeStream, GetShardIterator);

impl Addresses for TransactGetItems {
    fn table(&self) -> Option<&str> {
        self.gets.first().map(|get| get.table.as_str())
    }

    fn rename_tables(&mut self, rename: &mut dyn FnMut(&mut String)) -> bool {
        self.gets.iter_mut().for_each(|get| rename(&mut get.table));
        true
    }
}

impl Addresses for TransactWriteItems {
    fn table(&self) -> Option<&str> {
        self.actions.first().map(TransactAction::table)
    }

    fn rename_tables(&mut self, rename: &mut dyn FnMut(&mut String)) -> bool {
        self.actions.iter_mut().for_each(|action| rename(action.table_mut()));
        true
    }
}

impl Addresses for DescribeLimits {
    fn rename_tables(&mut self, _rename: &mut dyn FnMut(&mut String)) -> bool {
        true
    }
}

impl Addresses for ListStreams {
    fn table(&self) -> Option<&str> {
        self.table.as_deref()
    }
}

impl Addresses for ListTables {}
impl Addresses for ExecuteStatement {}
impl Addresses for BatchExecuteStatement {}
impl Addresses for ExecuteTransaction {}
impl Addresses for GetRecords {}
