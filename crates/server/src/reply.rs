//! Responses with the headers that SDKs expect: request id, checksum, content type and, if requested, gzip.

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

/// Complete response.
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

/// Response format that the request's headers ask for.
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

/// Returns whether a list such as `deflate, gzip;q=0.5` accepts gzip.
fn accepts_gzip(list: &str) -> bool {
    list.split(',').any(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        named && !parts.any(|weight| weight.strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0)))
    })
}

/// Builds the response of an operation. The checksum covers the bytes as sent, after compression.
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

/// Builds a model API response: JSON, or a problem document.
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

/// Compression level. Level 1 of zlib-rs uses the fixed Huffman table of the format, which compresses the ids, digits
/// and strings of answers poorly; from level 2 on it builds a table for the data. Measured on 105 KB of a Query's
/// answer on one core: level 1 has a ratio of 3.4 at 144 MB/s, level 3 has 4.7 at 78 MB/s, level 6 has 5.3 at 27 MB/s.
const LEVEL: u32 = 3;

/// Compresses a body; returns `None` if that does not make it smaller.
fn pack(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::new(LEVEL));
    encoder.write_all(body).ok()?;
    encoder.finish().ok().filter(|packed| packed.len() < body.len())
}

/// Builds a plain-text response for people and probes.
pub(crate) fn text(status: StatusCode, body: String) -> Reply {
    plain(status, body, &TEXT)
}

/// Builds the response of `/metrics`.
pub(crate) fn figures(body: String) -> Reply {
    plain(StatusCode::OK, body, &FIGURES)
}

/// Builds an error outside the DynamoDB protocol, as JSON.
pub(crate) fn refusal(status: StatusCode, message: &str) -> Reply {
    plain(status, format!("{{\"message\":\"{message}\"}}"), &PLAIN_JSON)
}

/// Builds a 405 response with the `Allow` header.
pub(crate) fn method_refusal(message: &str, allowed: &'static str) -> Reply {
    let mut reply = refusal(StatusCode::METHOD_NOT_ALLOWED, message);
    reply.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    reply
}

/// Closes the connection after this response, because the request was not read to its end or the server is stopping.
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
    use super::{accepts_gzip, pack};

    /// Returns a typical Query answer of a chat application: keys with ids, short messages, times and counters.
    fn query_answer(items: u64) -> String {
        const WORDS: [&str; 16] = [
            "the", "meeting", "was", "moved", "to", "Thursday", "please", "bring", "your", "notes", "and", "a",
            "laptop", "because", "demo", "works",
        ];
        // Xorshift generator (Marsaglia): ids must not repeat, and the test must be deterministic.
        let mut state = 88_172_645_463_325_252_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let mut item = |_| {
            let id = format!("{:013X}{:013X}", next() >> 12, next() >> 12);
            let text: Vec<&str> = (0..20).map(|_| WORDS[(next() % 16) as usize]).collect();
            let (minute, millis, likes) = (next() % 60, next() % 1000, next() % 1000);
            format!(
                r#"{{"pk":{{"S":"CHANNEL#01JD3M5N6P7Q8R9S0T1V2W3X4Y"}},"sk":{{"S":"MSG#{id}"}},"content":{{"S":"{}"}},"createdAt":{{"S":"2026-11-16T08:{minute:02}:11.{millis:03}Z"}},"likes":{{"N":"{likes}"}}}}"#,
                text.join(" ")
            )
        };
        let items: Vec<String> = (0..items).map(&mut item).collect();
        format!(r#"{{"Count":{},"Items":[{}]}}"#, items.len(), items.join(","))
    }

    #[test]
    fn answer_of_a_query_shrinks_to_less_than_a_quarter() {
        let answer = query_answer(350);
        assert!((90_000..130_000).contains(&answer.len()), "{}", answer.len());
        let packed = pack(answer.as_bytes()).unwrap();
        assert!(packed.len() * 4 < answer.len(), "{} of {}", packed.len(), answer.len());
    }

    #[test]
    fn what_does_not_shrink_is_sent_as_it_is() {
        let noise: Vec<u8> =
            (0..4096_u32).flat_map(|number| crc32fast::hash(&number.to_le_bytes()).to_le_bytes()).collect();
        assert_eq!(pack(&noise), None);
    }

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
