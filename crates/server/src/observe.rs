//! Metrics and access log of each request. Neither contains item data or secrets.

use std::time::Duration;

use keyform_core::error::Detail;
use keyform_core::operation::TransactAction;
use keyform_core::{Error, ErrorCode, Operation, World};
use tracing::Level;

use crate::metrics::Kind;
use crate::request_id::RequestId;
use crate::shared::Shared;

/// Log target of the access log, for filters.
pub(crate) const ACCESS: &str = "keyform.access";

/// Measurements of one request in progress.
pub(crate) struct Observation {
    id: RequestId,
    /// Moment of the request on the monotonic clock.
    begin: Duration,
    operation: Kind,
    table: Option<String>,
    error: Option<ErrorCode>,
    received: usize,
}

impl Observation {
    pub(crate) fn begin(world: &dyn World) -> Self {
        Self {
            id: RequestId::next(),
            begin: world.monotonic(),
            operation: Kind::UNKNOWN,
            table: None,
            error: None,
            received: 0,
        }
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }

    pub(crate) fn received(&mut self, bytes: usize) {
        self.received = bytes;
    }

    pub(crate) fn target(&mut self, target: &str) {
        self.operation = Kind::of_target(target);
    }

    /// Records the table name, if the access log is enabled.
    pub(crate) fn table(&mut self, operation: &Operation) {
        if tracing::enabled!(target: ACCESS, Level::INFO) {
            self.table = table_of(operation).map(str::to_owned);
        }
    }

    pub(crate) fn refused(&mut self, error: &Error) {
        self.error = Some(error.code());
        // A store that refuses temporarily has logged the cause once (ADR 0029): a full disk must not flood the log as
        // well.
        if *error.detail() == Detail::RefusedForNow {
            tracing::debug!(operation = self.operation.name(), request_id = self.id.as_str(), "{}", error.message());
        } else if error.code() == ErrorCode::InternalServer {
            tracing::error!(operation = self.operation.name(), request_id = self.id.as_str(), "{}", error.message());
        }
    }

    /// Counts the request and writes its access log line.
    pub(crate) fn end(&self, shared: &Shared, status: u16, sent: usize) {
        let took = shared.world.monotonic().saturating_sub(self.begin);
        shared.metrics.record(self.operation, self.error, took, self.received, sent);
        tracing::info!(
            target: ACCESS,
            operation = self.operation.name(),
            table = self.table.as_deref(),
            status,
            error = self.error.map(ErrorCode::name),
            micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            request_id = self.id.as_str(),
        );
    }
}

/// Writes the access log line of a model call. It contains names only, no arguments or results.
pub(crate) fn model_call(model: Option<&str>, pattern: Option<&str>, status: u16, took: Duration, id: &RequestId) {
    tracing::info!(
        target: ACCESS,
        model,
        pattern,
        status,
        micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        request_id = id.as_str(),
    );
}

/// Returns the table of an operation, or the first of several.
fn table_of(operation: &Operation) -> Option<&str> {
    Some(match operation {
        Operation::CreateTable(request) => &request.table,
        Operation::UpdateTable(request) => &request.table,
        Operation::UpdateTimeToLive(request) => &request.table,
        Operation::UpdateContinuousBackups(request) => &request.table,
        Operation::DescribeTable { table }
        | Operation::DeleteTable { table }
        | Operation::DescribeTimeToLive { table }
        | Operation::DescribeContinuousBackups { table } => table,
        Operation::TagResource(request) => &request.arn,
        Operation::UntagResource(request) => &request.arn,
        Operation::ListTagsOfResource(request) => &request.arn,
        Operation::PutItem(request) => &request.table,
        Operation::GetItem(request) => &request.table,
        Operation::UpdateItem(request) => &request.table,
        Operation::DeleteItem(request) => &request.table,
        Operation::Query(request) => &request.table,
        Operation::Scan(request) => &request.table,
        Operation::BatchGetItem(request) => &request.tables.first()?.0,
        Operation::BatchWriteItem(request) => &request.tables.first()?.0,
        Operation::TransactGetItems(request) => &request.gets.first()?.table,
        Operation::TransactWriteItems(request) => table_of_action(request.actions.first()?),
        Operation::ListStreams(request) => request.table.as_deref()?,
        Operation::DescribeStream(request) => &request.arn,
        Operation::GetShardIterator(request) => &request.arn,
        Operation::ListTables(_)
        | Operation::DescribeLimits
        | Operation::ExecuteStatement(_)
        | Operation::BatchExecuteStatement(_)
        | Operation::ExecuteTransaction(_)
        | Operation::GetRecords(_) => return None,
    })
}

fn table_of_action(action: &TransactAction) -> &str {
    match action {
        TransactAction::Put { table, .. }
        | TransactAction::Update { table, .. }
        | TransactAction::Delete { table, .. }
        | TransactAction::Check { table, .. } => table,
    }
}
