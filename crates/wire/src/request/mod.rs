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
use keyform_core::operation::{OperationKind, Service};
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
    if target == DESCRIBE_ENDPOINTS {
        let mut reader = Reader::new(body)?;
        parameters::body_is_object(&mut reader, "DescribeEndpoints")?;
        reader.skip()?;
        return reader.end().map(|()| Decoded::DescribeEndpoints);
    }
    let kind = operation_of(target).ok_or_else(unknown_operation)?;
    let parse = parser(kind).ok_or_else(unknown_operation)?;
    let mut reader = Reader::new(body)?;
    parameters::body_is_object(&mut reader, kind.name())?;
    let (operation, echo) = parse(Body { reader })?;
    Ok(Decoded::Operation(Box::new(Request { operation, echo })))
}

/// Target of the one operation that no store executes.
const DESCRIBE_ENDPOINTS: &str = "DynamoDB_20120810.DescribeEndpoints";

/// Returns the operation that a target names.
fn operation_of(target: &str) -> Option<OperationKind> {
    let (version, name) = target.split_once('.')?;
    OperationKind::from_name(name).filter(|kind| version == version_of(kind.service()))
}

/// Returns the `X-Amz-Target` header of an operation.
#[must_use]
pub fn target(kind: OperationKind) -> String {
    format!("{}.{}", version_of(kind.service()), kind.name())
}

fn version_of(service: Service) -> &'static str {
    match service {
        Service::DynamoDb => "DynamoDB_20120810",
        Service::Streams => "DynamoDBStreams_20120810",
    }
}

/// A body that has not been read yet.
struct Body<'a> {
    reader: Reader<'a>,
}

impl<'a> Body<'a> {
    /// Reads the whole body with `read` before anything in it is checked, because malformed JSON takes precedence
    /// over invalid parameters.
    fn read<T>(mut self, read: impl FnOnce(&mut Reader<'a>) -> Result<T, Error>) -> Result<(T, Echo), Error> {
        let members = read(&mut self.reader)?;
        self.reader.end()?;
        Ok((members, Echo::default()))
    }
}

/// Reads and checks the body of one kind of request.
type Parse = for<'a> fn(Body<'a>) -> Result<(Operation, Echo), Error>;

/// Returns the parser of an operation, or `None` if the endpoint does not serve it.
fn parser(kind: OperationKind) -> Option<Parse> {
    let parse: Parse = match kind {
        OperationKind::GetItem => |body| parsed(Operation::GetItem, item::get(body)),
        OperationKind::PutItem => |body| parsed(Operation::PutItem, item::put(body)),
        OperationKind::Query => |body| parsed(Operation::Query, page::query(body)),
        OperationKind::UpdateItem => |body| parsed(Operation::UpdateItem, item::update(body)),
        OperationKind::DeleteItem => |body| parsed(Operation::DeleteItem, item::delete(body)),
        OperationKind::BatchGetItem => |body| parsed(Operation::BatchGetItem, batch::get(body)),
        OperationKind::BatchWriteItem => |body| parsed(Operation::BatchWriteItem, batch::write(body)),
        OperationKind::TransactWriteItems => |body| parsed(Operation::TransactWriteItems, transaction::write(body)),
        OperationKind::TransactGetItems => |body| parsed(Operation::TransactGetItems, transaction::get(body)),
        OperationKind::Scan => |body| parsed(Operation::Scan, page::scan(body)),
        OperationKind::ExecuteStatement => |body| parsed(Operation::ExecuteStatement, statement::execute(body)),
        OperationKind::BatchExecuteStatement => |body| parsed(Operation::BatchExecuteStatement, statement::batch(body)),
        OperationKind::ExecuteTransaction => |body| parsed(Operation::ExecuteTransaction, statement::transaction(body)),
        OperationKind::GetRecords => |body| parsed(Operation::GetRecords, stream::records(body)),
        OperationKind::GetShardIterator => |body| parsed(Operation::GetShardIterator, stream::iterator(body)),
        OperationKind::DescribeStream => |body| parsed(Operation::DescribeStream, stream::describe(body)),
        OperationKind::ListStreams => |body| parsed(Operation::ListStreams, stream::list(body)),
        OperationKind::DescribeTable => |body| parsed(Operation::DescribeTable, table::describe(body)),
        OperationKind::ListTables => |body| parsed(Operation::ListTables, table::list(body)),
        OperationKind::CreateTable => |body| parsed(Operation::CreateTable, table::create(body)),
        OperationKind::UpdateTable => |body| parsed(Operation::UpdateTable, table::update(body)),
        OperationKind::DeleteTable => |body| parsed(Operation::DeleteTable, table::delete(body)),
        OperationKind::UpdateTimeToLive => {
            |body| parsed(Operation::UpdateTimeToLive, resource::update_time_to_live(body))
        }
        OperationKind::DescribeTimeToLive => {
            |body| parsed(Operation::DescribeTimeToLive, resource::describe_time_to_live(body))
        }
        OperationKind::DescribeContinuousBackups => {
            |body| parsed(Operation::DescribeContinuousBackups, resource::describe_backups(body))
        }
        OperationKind::DescribeLimits => |body| parsed(Operation::DescribeLimits, resource::describe_limits(body)),
        OperationKind::TagResource => |body| parsed(Operation::TagResource, resource::tag(body)),
        OperationKind::UntagResource => |body| parsed(Operation::UntagResource, resource::untag(body)),
        OperationKind::ListTagsOfResource => |body| parsed(Operation::ListTagsOfResource, resource::list_tags(body)),
        // Deployments send it to remote stores. The engine has no point-in-time recovery to enable.
        OperationKind::UpdateContinuousBackups => return None,
    };
    Some(parse)
}

fn parsed<R>(operation: fn(R) -> Operation, read: Result<(R, Echo), Error>) -> Result<(Operation, Echo), Error> {
    read.map(|(request, echo)| (operation(request), echo))
}
