//! Metrics and access log of each request. Neither contains item data or secrets.

use std::time::Duration;

use keyform_core::error::Detail;
use keyform_core::{Error, ErrorCode, Operation, World};
use keyform_flow::Client;
use tracing::Level;

use crate::metrics::Kind;
use crate::request_id::RequestId;
use crate::shared::Shared;

/// Log target of the access log, for filters.
pub(crate) const ACCESS: &str = "keyform.access";

/// Measurements of one request in progress.
pub(crate) struct Observation {
    id: RequestId,
    client: Option<Client>,
    /// Moment of the request on the monotonic clock.
    begin: Duration,
    operation: Kind,
    table: Option<String>,
    error: Option<ErrorCode>,
    received: usize,
}

impl Observation {
    pub(crate) fn begin(world: &dyn World, client: Option<Client>) -> Self {
        Self {
            id: RequestId::next(),
            client,
            begin: world.monotonic(),
            operation: Kind::Unknown,
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
            self.table = operation.table().map(str::to_owned);
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
            client = self.client.map(tracing::field::display),
            request_id = self.id.as_str(),
        );
    }
}

/// Writes the access log line of a model call. It contains names only, no arguments or results.
pub(crate) fn model_call(
    (model, pattern): (Option<&str>, Option<&str>),
    status: u16,
    took: Duration,
    client: Option<Client>,
    id: &RequestId,
) {
    tracing::info!(
        target: ACCESS,
        model,
        pattern,
        status,
        micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        client = client.map(tracing::field::display),
        request_id = id.as_str(),
    );
}
