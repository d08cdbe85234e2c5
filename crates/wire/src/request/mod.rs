//! Decodes JSON requests to [`Operation`]s, one file per family of operations.
//!
//! 1. [`decode`] selects the operation by name.
//! 2. The family's file reads the members from JSON without checking them.
//! 3. It checks the constraints of single members, then combinations of members, in DynamoDB's order.
//! 4. Expressions and legacy parameters become trees, as parts of the [`Operation`].

mod batch;
mod choice;
mod item;
mod mixture;
mod page;
mod parameters;
mod resource;
mod shown;
mod statement;
mod stream;
mod table;
mod table_name;
mod transaction;
mod unsupported;

use keyform_core::error::request::unknown_operation;
use keyform_core::{Error, Operation};

use crate::Echo;
use crate::json::Reader;
pub(crate) use parameters::{Names, Parameters, Values};
pub(crate) use table_name::name_in_arn;
pub(crate) use unsupported::members as unsupported_members;

/// A decoded request.
#[derive(Debug)]
pub enum Decoded {
    /// An operation to be executed by a store.
    Operation(Box<Request>),
    /// DescribeEndpoints, which the server answers without a store.
    DescribeEndpoints,
}

/// A decoded operation.
#[derive(Debug)]
pub struct Request {
    /// DynamoDB's name of the operation.
    pub name: &'static str,
    /// Operation to execute.
    pub operation: Operation,
    /// Parts of the request that [`crate::encode`] needs for the response.
    pub echo: Echo,
}

/// Decodes a request. `target` is the `X-Amz-Target` header.
///
/// # Errors
/// Returns DynamoDB's error for an unknown operation, malformed JSON, members of the wrong
/// type, or invalid parameters.
pub fn decode(target: &str, body: &[u8]) -> Result<Decoded, Error> {
    let (name, read) = target
        .strip_prefix("DynamoDB_20120810.")
        .and_then(data_operation)
        .or_else(|| target.strip_prefix("DynamoDBStreams_20120810.").and_then(stream_operation))
        .ok_or_else(unknown_operation)?;
    let mut reader = Reader::new(body)?;
    parameters::body_is_object(&mut reader, name)?;
    let Some(read) = read else {
        reader.skip()?;
        return reader.end().map(|()| Decoded::DescribeEndpoints);
    };
    let (operation, echo) = read(Body { reader, name })?;
    Ok(Decoded::Operation(Box::new(Request { name, operation, echo })))
}

/// A body that has not been read yet.
struct Body<'a> {
    reader: Reader<'a>,
    name: &'static str,
}

impl<'a> Body<'a> {
    /// Reads the whole body with `read` before anything in it is checked, because malformed JSON takes precedence
    /// over invalid parameters.
    fn read<T>(mut self, read: impl FnOnce(&mut Reader<'a>) -> Result<T, Error>) -> Result<(T, Echo), Error> {
        let members = read(&mut self.reader)?;
        self.reader.end()?;
        Ok((members, Echo::new(self.name)))
    }
}

/// Reads and checks one kind of request.
type Read = for<'a> fn(Body<'a>) -> Result<(Operation, Echo), Error>;

fn data_operation(name: &str) -> Option<(&'static str, Option<Read>)> {
    let found: (&'static str, Read) = match name {
        "PutItem" => ("PutItem", item::put),
        "GetItem" => ("GetItem", item::get),
        "UpdateItem" => ("UpdateItem", item::update),
        "DeleteItem" => ("DeleteItem", item::delete),
        "Query" => ("Query", page::query),
        "Scan" => ("Scan", page::scan),
        "BatchGetItem" => ("BatchGetItem", batch::get),
        "BatchWriteItem" => ("BatchWriteItem", batch::write),
        "TransactGetItems" => ("TransactGetItems", transaction::get),
        "TransactWriteItems" => ("TransactWriteItems", transaction::write),
        "ExecuteStatement" => ("ExecuteStatement", statement::execute),
        "BatchExecuteStatement" => ("BatchExecuteStatement", statement::batch),
        "ExecuteTransaction" => ("ExecuteTransaction", statement::transaction),
        "CreateTable" => ("CreateTable", table::create),
        "DescribeTable" => ("DescribeTable", table::describe),
        "UpdateTable" => ("UpdateTable", table::update),
        "DeleteTable" => ("DeleteTable", table::delete),
        "ListTables" => ("ListTables", table::list),
        "UpdateTimeToLive" => ("UpdateTimeToLive", resource::update_time_to_live),
        "DescribeTimeToLive" => ("DescribeTimeToLive", resource::describe_time_to_live),
        "DescribeContinuousBackups" => ("DescribeContinuousBackups", resource::describe_backups),
        "DescribeLimits" => ("DescribeLimits", resource::describe_limits),
        "TagResource" => ("TagResource", resource::tag),
        "UntagResource" => ("UntagResource", resource::untag),
        "ListTagsOfResource" => ("ListTagsOfResource", resource::list_tags),
        "DescribeEndpoints" => return Some(("DescribeEndpoints", None)),
        _ => return None,
    };
    Some((found.0, Some(found.1)))
}

fn stream_operation(name: &str) -> Option<(&'static str, Option<Read>)> {
    let found: (&'static str, Read) = match name {
        "ListStreams" => ("ListStreams", stream::list),
        "DescribeStream" => ("DescribeStream", stream::describe),
        "GetShardIterator" => ("GetShardIterator", stream::iterator),
        "GetRecords" => ("GetRecords", stream::records),
        _ => return None,
    };
    Some((found.0, Some(found.1)))
}
