//! Converts errors of the SDK to ours, with code, message and details.

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{BuildError, DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::CancellationReason as SdkReason;
use keyform_core::Error;
use keyform_core::error::{CancellationReason, Detail, remote};

use crate::{resend, value};

/// Converts the error of a request.
pub(crate) fn service_error(error: impl Into<aws_sdk_dynamodb::Error>) -> Error {
    let error = error.into();
    let Some(code) = error.code() else {
        return remote::no_answer(&DisplayErrorContext(&error).to_string());
    };
    match detail(&error) {
        Ok(detail) => remote::reported(code, error.message().unwrap_or_default(), detail),
        Err(malformed) => malformed,
    }
}

/// Converts the error of a write. Reports `OutcomeUnknown` if the write may have been applied.
pub(crate) fn write_error<E>(error: SdkError<E, HttpResponse>) -> Error
where
    aws_sdk_dynamodb::Error: From<SdkError<E, HttpResponse>>,
    E: std::error::Error + 'static,
{
    let unsure = match &error {
        SdkError::TimeoutError(_) | SdkError::ResponseError(_) => true,
        SdkError::DispatchFailure(failed) => !resend::was_refused(failed.as_connector_error().map(|error| error as _)),
        SdkError::ServiceError(failed) => failed.raw().status().is_server_error(),
        _ => false,
    };
    if unsure { remote::outcome_unknown(&DisplayErrorContext(&error).to_string()) } else { service_error(error) }
}

/// Converts the error of a request to the streams endpoint.
pub(crate) fn streams_error(error: impl Into<aws_sdk_dynamodbstreams::Error>) -> Error {
    let error = error.into();
    match error.code() {
        Some(code) => remote::reported(code, error.message().unwrap_or_default(), Detail::None),
        None => remote::no_answer(&DisplayErrorContext(&error).to_string()),
    }
}

/// Converts the SDK's error about a missing required field.
pub(crate) fn incomplete(error: BuildError) -> Error {
    Error::internal(format!("the request is incomplete: {error}"))
}

fn detail(error: &aws_sdk_dynamodb::Error) -> Result<Detail, Error> {
    use aws_sdk_dynamodb::Error as Sdk;
    Ok(match error {
        Sdk::ConditionalCheckFailedException(failed) => {
            value::optional_item(failed.item.as_ref())?.map_or(Detail::None, Detail::Item)
        }
        Sdk::TransactionCanceledException(cancelled) => {
            let reasons = cancelled.cancellation_reasons();
            Detail::Cancellation(reasons.iter().map(reason).collect::<Result<_, _>>()?)
        }
        _ => Detail::None,
    })
}

fn reason(reason: &SdkReason) -> Result<CancellationReason, Error> {
    let item = value::optional_item(reason.item.as_ref())?;
    Ok(remote::reason(reason.code().unwrap_or_default(), reason.message().unwrap_or_default(), item))
}
