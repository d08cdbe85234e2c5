//! Error responses.

use keyform_core::error::{CancellationReason, Detail};
use keyform_core::{Error, ErrorCode};

use crate::json::Writer;
use crate::value::write_item;

/// Appends the JSON body of an error response.
pub fn encode_error(error: &Error, out: &mut Vec<u8>) {
    let mut writer = Writer::new(out);
    writer.object(|out| {
        out.string_member("__type", error.code().qualified_name());
        match error.detail() {
            Detail::None | Detail::NoAnswer | Detail::OutcomeUnknown | Detail::RefusedForNow => {}
            Detail::Item(item) => {
                out.name("Item");
                write_item(out, item);
            }
            Detail::Cancellation(reasons) => {
                out.name("CancellationReasons");
                out.array(reasons, |out, reason| out.object(|out| cancellation_reason(out, reason)));
            }
        }
        if !error.message().is_empty() {
            out.string_member(message_member(error.code()), error.message());
        }
    });
}

/// Returns the member that carries the message; DynamoDB capitalizes it for some errors.
fn message_member(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::Serialization | ErrorCode::TransactionCanceled | ErrorCode::AccessDenied => "Message",
        _ => "message",
    }
}

fn cancellation_reason(out: &mut Writer<'_>, reason: &CancellationReason) {
    out.string_member("Code", reason.cause.as_ref().map_or("None", |cause| cause.code));
    if let Some(item) = &reason.item {
        out.name("Item");
        write_item(out, item);
    }
    if let Some(cause) = &reason.cause {
        out.string_member("Message", &cause.message);
    }
}
