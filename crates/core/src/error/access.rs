//! Texts about signatures, credentials and requests that never reach an operation.

use super::{Error, ErrorCode};

/// Neither a header nor the query carries a signature.
pub fn missing_authentication_token() -> Error {
    Error::new(ErrorCode::MissingAuthenticationToken, "Request is missing Authentication Token")
}

/// The access key is not one of ours.
pub fn unrecognized_client() -> Error {
    Error::new(ErrorCode::UnrecognizedClient, "The security token included in the request is invalid.")
}

/// The `Authorization` header lacks parts; `missing` are their names, `date` says whether the date is among them.
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

/// The signature in the query lacks parts.
pub fn incomplete_query(missing: &[&str]) -> Error {
    let mut text = String::new();
    for part in missing {
        text.push_str(&format!("AWS query-string parameters must include '{part}'. "));
    }
    text.push_str("Re-examine the query-string parameters.");
    Error::new(ErrorCode::IncompleteSignature, text)
}

/// The algorithm is not the one we verify.
pub fn unsupported_algorithm(algorithm: &str) -> Error {
    Error::new(ErrorCode::IncompleteSignature, format!("Unsupported AWS 'algorithm': '{algorithm}'."))
}

/// The credential is not made of its five parts.
pub fn malformed_credential(credential: &str) -> Error {
    let text = format!(
        "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, got '{credential}'"
    );
    Error::new(ErrorCode::IncompleteSignature, text)
}

/// The date cannot be read.
pub fn malformed_date(date: &str) -> Error {
    let text =
        format!("Date must be in ISO-8601 'basic format'. Got '{date}'. See http://en.wikipedia.org/wiki/ISO_8601");
    Error::new(ErrorCode::IncompleteSignature, text)
}

/// There is a signature in the query and one in a header.
pub fn two_signatures() -> Error {
    let text = "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.";
    Error::new(ErrorCode::InvalidSignature, text)
}

/// A header that decides what is done is not covered by the signature.
pub fn unsigned_header(name: &str) -> Error {
    Error::new(ErrorCode::InvalidSignature, format!("'{name}' must be a 'SignedHeader' in the AWS Authorization."))
}

/// The credential names another region, service or ending; `faults` says which.
pub fn wrong_scope(faults: &[ScopeFault<'_>]) -> Error {
    let text: String = faults.iter().map(ScopeFault::text).collect();
    Error::new(ErrorCode::InvalidSignature, text)
}

/// One part of a credential's scope that is not ours.
#[derive(Clone, Copy, Debug)]
pub enum ScopeFault<'a> {
    /// The region.
    Region(&'a str),
    /// The service.
    Service,
    /// The ending.
    Terminator(&'a str),
    /// The day, which is not that of the request's date.
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

/// The signature was made too long ago.
pub fn signature_expired(date: &str, earliest: &str, now: &str, minutes: u64) -> Error {
    let text = format!("Signature expired: {date} is now earlier than {earliest} ({now} - {minutes} min.)");
    Error::new(ErrorCode::InvalidSignature, text)
}

/// The signature is from the future.
pub fn signature_not_yet_current(date: &str, latest: &str, now: &str, minutes: u64) -> Error {
    let text = format!("Signature not yet current: {date} is still later than {latest} ({now} + {minutes} min.)");
    Error::new(ErrorCode::InvalidSignature, text)
}

/// The signature does not fit the request.
pub fn signature_mismatch() -> Error {
    let text = "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.";
    Error::new(ErrorCode::InvalidSignature, text)
}

/// The body has more bytes than are accepted.
pub fn request_too_large(bytes_max: usize) -> Error {
    let text = format!("The request body is larger than {bytes_max} bytes: send less in one request");
    Error::new(ErrorCode::RequestTooLarge, text)
}

/// The body cannot be unpacked.
pub fn body_not_readable(encoding: &str) -> Error {
    let text =
        format!("The request body is not valid for its Content-Encoding '{encoding}': gzip and identity are accepted");
    Error::new(ErrorCode::Serialization, text)
}

/// The body did not arrive in time.
pub fn body_too_slow(seconds: u64) -> Error {
    Error::new(ErrorCode::RequestTimeout, format!("The request body did not arrive within {seconds} seconds"))
}

/// The connection ended inside the body.
pub fn body_broken() -> Error {
    Error::new(ErrorCode::Serialization, "The request body ended early")
}
