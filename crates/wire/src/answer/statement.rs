//! Responses of PartiQL requests.

use keyform_core::error::Detail;
use keyform_core::operation::{
    BatchExecuteStatementOutput, ExecuteStatementOutput, ExecuteTransactionOutput, StatementResponse,
};
use keyform_core::{Error, ErrorCode};

use super::{capacity, transaction};
use crate::Echo;
use crate::json::Writer;
use crate::value::write_item;

/// Writes the ExecuteStatement response.
pub(super) fn execute(out: &mut Writer<'_>, echo: &Echo, output: &ExecuteStatementOutput) {
    out.name("Items");
    out.array(&output.items, write_item);
    if let Some(next) = &output.next {
        out.string_member("NextToken", next);
    }
    if let Some(key) = &output.last_key {
        out.name("LastEvaluatedKey");
        write_item(out, key);
    }
    capacity::one(out, echo, output.capacity.as_ref());
}

/// Writes the BatchExecuteStatement response.
pub(super) fn batch(out: &mut Writer<'_>, echo: &Echo, output: &BatchExecuteStatementOutput) {
    out.name("Responses");
    out.array(&output.responses, |out, response| out.object(|out| statement_response(out, response)));
    capacity::many(out, echo, &output.capacity);
}

/// Writes the ExecuteTransaction response.
pub(super) fn transaction(out: &mut Writer<'_>, echo: &Echo, output: &ExecuteTransactionOutput) {
    transaction::responses(out, &output.responses);
    capacity::many(out, echo, &output.capacity);
}

fn statement_response(out: &mut Writer<'_>, response: &StatementResponse) {
    match &response.result {
        Ok(Some(item)) => {
            out.name("Item");
            write_item(out, item);
        }
        Ok(None) => {}
        Err(error) => out.object_member("Error", |out| statement_error(out, error)),
    }
    if let Some(table) = &response.table {
        out.string_member("TableName", table);
    }
}

fn statement_error(out: &mut Writer<'_>, error: &Error) {
    out.string_member("Code", statement_error_code(error.code()));
    if let Detail::Item(item) = error.detail() {
        out.name("Item");
        write_item(out, item);
    }
    out.string_member("Message", error.message());
}

/// Returns the error code in the form used by batch responses.
fn statement_error_code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Validation => "ValidationError",
        ErrorCode::Throttling => "ThrottlingError",
        code => code.name().strip_suffix("Exception").unwrap_or(code.name()),
    }
}
