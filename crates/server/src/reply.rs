//! Answers with the headers that SDKs look at: id, checksum, type, and packed when the client asked for it.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, SERVER,
};
use hyper::http::HeaderValue;
use hyper::{HeaderMap, Response, StatusCode};

use crate::request_id::RequestId;
use crate::work;

/// An answer on its way out.
pub(crate) type Reply = Response<Full<Bytes>>;

static REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");
static CHECKSUM: HeaderName = HeaderName::from_static("x-amz-crc32");
static NAME: HeaderValue = HeaderValue::from_static("keyform");
static JSON_1_0: HeaderValue = HeaderValue::from_static("application/x-amz-json-1.0");
static JSON_1_1: HeaderValue = HeaderValue::from_static("application/x-amz-json-1.1");
static PLAIN_JSON: HeaderValue = HeaderValue::from_static("application/json");
static PROBLEM: HeaderValue = HeaderValue::from_static("application/problem+json");
static TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
static FIGURES: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// What the request's headers say about the form of its answer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wish {
    gzip: bool,
    version_1_1: bool,
}

impl Wish {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let gzip = headers.get_all(ACCEPT_ENCODING).iter().any(|value| value.to_str().is_ok_and(accepts_gzip));
        let version_1_1 =
            headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(JSON_1_1.as_bytes()));
        Self { gzip, version_1_1 }
    }
}

/// Whether a list such as `deflate, gzip;q=0.5` asks for gzip.
fn accepts_gzip(list: &str) -> bool {
    list.split(',').any(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        named && !parts.any(|weight| weight.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0)))
    })
}

/// The answer of an operation. The checksum is that of the bytes as they are sent.
pub(crate) async fn operation(status: u16, body: Vec<u8>, wish: Wish, gzip_bytes_min: usize, id: &RequestId) -> Reply {
    let wanted = wish.gzip && body.len() >= gzip_bytes_min;
    let (body, packed) = if wanted { work::pack(body, pack).await } else { (body, None) };
    let gzip = packed.is_some();
    let body = Bytes::from(packed.unwrap_or(body));
    let checksum = crc32fast::hash(&body);
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = reply.headers_mut();
    headers.reserve(6);
    headers.insert(SERVER, NAME.clone());
    headers.insert(CONTENT_TYPE, if wish.version_1_1 { JSON_1_1.clone() } else { JSON_1_0.clone() });
    headers.insert(REQUEST_ID.clone(), HeaderValue::from_str(id.as_str()).expect("the id is ASCII"));
    headers.insert(CHECKSUM.clone(), HeaderValue::from(checksum));
    if gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    reply
}

/// The answer of a model: JSON, or a problem.
pub(crate) fn model(
    status: u16,
    body: Vec<u8>,
    problem: bool,
    header: Option<(&'static str, &str)>,
    id: &RequestId,
) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(body)));
    *reply.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = reply.headers_mut();
    headers.insert(SERVER, NAME.clone());
    if status != 204 {
        headers.insert(CONTENT_TYPE, if problem { PROBLEM.clone() } else { PLAIN_JSON.clone() });
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REQUEST_ID.clone(), HeaderValue::from_str(id.as_str()).expect("the id is ASCII"));
    if let Some((name, value)) = header {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).expect("the server writes ASCII"));
    }
    reply
}

/// Packed bytes, unless packing does not pay.
fn pack(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::fast());
    encoder.write_all(body).ok()?;
    encoder.finish().ok().filter(|packed| packed.len() < body.len())
}

/// Plain text for people and probes.
pub(crate) fn text(status: StatusCode, body: String) -> Reply {
    plain(status, body, &TEXT)
}

/// The page of `/metrics`.
pub(crate) fn figures(body: String) -> Reply {
    plain(StatusCode::OK, body, &FIGURES)
}

/// A refusal outside of the service's protocol, as JSON that says what to do.
pub(crate) fn refusal(status: StatusCode, message: &str) -> Reply {
    plain(status, format!("{{\"message\":\"{message}\"}}"), &PLAIN_JSON)
}

/// The same for a method that is not allowed.
pub(crate) fn method_refusal(message: &str, allowed: &'static str) -> Reply {
    let mut reply = refusal(StatusCode::METHOD_NOT_ALLOWED, message);
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

/// Lets the connection end after this answer: what is left of the request was not read, or the server stops.
pub(crate) fn closing(mut reply: Reply) -> Reply {
    reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    reply
}

fn plain(status: StatusCode, body: String, content_type: &HeaderValue) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(body)));
    *reply.status_mut() = status;
    reply.headers_mut().insert(SERVER, NAME.clone());
    reply.headers_mut().insert(CONTENT_TYPE, content_type.clone());
    reply
}

#[cfg(test)]
mod tests {
    use super::accepts_gzip;

    #[test]
    fn gzip_is_used_when_asked_for() {
        for (list, expected) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5", true),
            ("gzip;q=0", false),
            ("identity", false),
            ("br", false),
            ("gzip; q=0.0, br", false),
        ] {
            assert_eq!(accepts_gzip(list), expected, "{list}");
        }
    }
}
