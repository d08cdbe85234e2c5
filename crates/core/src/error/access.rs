//! Errors of authentication and of requests that are rejected before they reach an operation.

use super::{Error, ErrorCode};

/// Neither the headers nor the query string carry a signature.
pub fn missing_authentication_token() -> Error {
    Error::new(ErrorCode::MissingAuthenticationToken, "Request is missing Authentication Token")
}

/// The access key is unknown.
pub fn unrecognized_client() -> Error {
    Error::new(ErrorCode::UnrecognizedClient, "The security token included in the request is invalid.")
}

/// The `Authorization` header lacks the parameters `missing`; `date` adds that the date header is missing too.
pub fn incomplete_authorization(missing: &[&str], date: bool, header: &str) -> Error {
    let mut text = String::new();
    for part in missing {
        text.push_str(&format!("Authorization header requires '{part}' parameter. "));
    }
    if date {
        text.push_str("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ");
    }
    text.push_str(&format!("Authorization={header}"));
    Error::new(ErrorCode::IncompleteSignature, text)
}

/// The query-string signature lacks parameters.
pub fn incomplete_query(missing: &[&str]) -> Error {
    let mut text = String::new();
    for part in missing {
        text.push_str(&format!("AWS query-string parameters must include '{part}'. "));
    }
    text.push_str("Re-examine the query-string parameters.");
    Error::new(ErrorCode::IncompleteSignature, text)
}

/// The lifetime of a presigned request is not a number of seconds, or not one that the service accepts.
pub fn lifetime_out_of_range(max_secs: u64) -> Error {
    let text = format!("X-Amz-Expires must be a number of seconds from 1 to {max_secs}");
    Error::new(ErrorCode::IncompleteSignature, text)
}

/// The signing algorithm is not supported.
pub fn unsupported_algorithm(algorithm: &str) -> Error {
    Error::new(ErrorCode::IncompleteSignature, format!("Unsupported AWS 'algorithm': '{algorithm}'."))
}

/// The credential does not have its five parts.
pub fn malformed_credential(credential: &str) -> Error {
    let text = format!(
        "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '{credential}'"
    );
    Error::new(ErrorCode::IncompleteSignature, text)
}

/// The date is not in ISO 8601 basic format.
pub fn malformed_date(date: &str) -> Error {
    let text =
        format!("Date must be in ISO-8601 'basic format'. Got '{date}'. See http://en.wikipedia.org/wiki/ISO_8601");
    Error::new(ErrorCode::IncompleteSignature, text)
}

/// The request has both a query-string signature and an `Authorization` header.
pub fn two_signatures() -> Error {
    let text = "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.";
    Error::new(ErrorCode::InvalidSignature, text)
}

/// The signature does not cover a header that affects the request.
pub fn unsigned_header(name: &str) -> Error {
    Error::new(ErrorCode::InvalidSignature, format!("'{name}' must be a 'SignedHeader' in the AWS Authorization."))
}

/// The credential is scoped to another region, service, date or terminator; `faults` lists the mismatches.
pub fn wrong_scope(faults: &[ScopeFault<'_>]) -> Error {
    let text: String = faults.iter().map(ScopeFault::text).collect();
    Error::new(ErrorCode::InvalidSignature, text)
}

/// One part of a credential scope that does not match.
#[derive(Clone, Copy, Debug)]
pub enum ScopeFault<'a> {
    /// The region in the credential.
    Region(&'a str),
    /// The service name is not `dynamodb`.
    Service,
    /// The terminator in the credential; `aws4_request` is expected.
    Terminator(&'a str),
    /// The day in the credential and the date of the request, which differ.
    Date(&'a str, &'a str),
}

impl ScopeFault<'_> {
    fn text(&self) -> String {
        match self {
            Self::Region(got) => format!("Credential should be scoped to a valid region, not '{got}'. "),
            Self::Service => "Credential should be scoped to correct service: 'dynamodb'. ".to_owned(),
            Self::Terminator(got) => {
                format!("Credential should be scoped with a valid terminator: 'aws4_request', not '{got}'. ")
            }
            Self::Date(scope, date) => format!(
                "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '{scope}' != '{}', from '{date}'. ",
                date.get(..8).unwrap_or(date)
            ),
        }
    }
}

/// The signature is older than the allowed clock skew.
pub fn signature_expired(date: &str, earliest: &str, now: &str, minutes: u64) -> Error {
    let text = format!("Signature expired: {date} is now earlier than {earliest} ({now} - {minutes} min.)");
    Error::new(ErrorCode::InvalidSignature, text)
}

/// The signature is dated further in the future than the allowed clock skew.
pub fn signature_not_yet_current(date: &str, latest: &str, now: &str, minutes: u64) -> Error {
    let text = format!("Signature not yet current: {date} is still later than {latest} ({now} + {minutes} min.)");
    Error::new(ErrorCode::InvalidSignature, text)
}

/// The calculated signature differs from the one in the request.
pub fn signature_mismatch() -> Error {
    let text = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.";
    Error::new(ErrorCode::InvalidSignature, text)
}

/// The body exceeds the size limit.
pub fn request_too_large(bytes_max: usize) -> Error {
    let text = format!("The request body is larger than {bytes_max} bytes: send less in one request");
    Error::new(ErrorCode::RequestTooLarge, text)
}

/// The body does not match its `Content-Encoding`.
pub fn body_not_readable(encoding: &str) -> Error {
    let text =
        format!("The request body is not valid for its Content-Encoding '{encoding}': gzip and identity are accepted");
    Error::new(ErrorCode::Serialization, text)
}

/// The body did not arrive before the timeout.
pub fn body_too_slow(seconds: u64) -> Error {
    Error::new(ErrorCode::RequestTimeout, format!("The request body did not arrive within {seconds} seconds"))
}

/// The connection closed before the body was complete.
pub fn body_broken() -> Error {
    Error::new(ErrorCode::Serialization, "The request body ended early")
}
