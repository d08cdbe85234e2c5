//! Cross-origin resource sharing (CORS): lets web pages of configured origins call the model API from a browser.
//!
//! A browser sends the page's origin with each request of another origin and shows the answer to the page only if the
//! server names that origin. Requests with more than the safe headers are preceded by a preflight (`OPTIONS`).
//!
//! | request below `/v1` | origin allowed | another origin |
//! |---|---|---|
//! | preflight | 204 with methods, headers and [`MAX_AGE_SECS`] | 403 |
//! | call | answered, with `Access-Control-Allow-Origin` | answered without CORS headers; 403 in development mode |
//! | WebSocket handshake | accepted | 403, unless the page has the server's own origin |
//!
//! All other paths are never shared. An allowed origin does not widen the check of the `Host` header.

use hyper::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD,
    CONTENT_TYPE, HeaderName, ORIGIN, VARY,
};
use hyper::http::HeaderValue;
use hyper::{HeaderMap, Method, Request, StatusCode};

use crate::allowed_hosts::HostName;
use crate::error::StartError;
use crate::reply::{self, Reply};
use crate::route::is_of_models;
use crate::security::Security;
use crate::settings::ServerSettings;

/// Time for which a browser may reuse the answer to a preflight.
const MAX_AGE_SECS: u64 = 600;
/// Methods of the model API.
const METHODS: &str = "GET, POST";
/// Request headers that the model API reads and browsers do not send without permission.
const REQUEST_HEADERS: &str = "Authorization, Content-Encoding, Content-Type, Idempotency-Key, X-Keyform-Caller";
/// Response headers that a page may read beside the safe ones.
const RESPONSE_HEADERS: &str = "Allow, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, X-Amzn-RequestId";
/// Request headers that the answer to a preflight depends on.
const PREFLIGHT_VARY: &str = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers";

/// Web pages of other origins that may use the model API. The default allows none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorsSettings {
    /// Origins: `https://app.example.com`, `https://*.example.com` for names with one label in place of the `*`, or `*`
    /// for all origins.
    pub origins: Vec<String>,
    /// Lets pages send cookies and HTTP authentication of the browser. Not with the origin `*`.
    pub credentials: bool,
}

/// Checked [`CorsSettings`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Cors {
    origins: Vec<Allowed>,
    credentials: bool,
}

/// Allowed origins. Browsers send an origin in its one canonical form, so a comparison of text is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Allowed {
    All,
    One(String),
    /// `https://*.example.com:8443` is `https://` and `.example.com:8443`.
    Label {
        before: String,
        after: String,
    },
}

impl Allowed {
    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        let Some((before, after)) = text.split_once("://*.") else { return canonical(text).map(Self::One) };
        let example = canonical(&format!("{before}://{after}"))?;
        let (scheme, authority) = example.split_once("://")?;
        let is_name = matches!(HostName::of_authority(authority)?, HostName::Name(_));
        is_name.then(|| Self::Label { before: format!("{scheme}://"), after: format!(".{authority}") })
    }

    fn matches(&self, origin: &str) -> bool {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
        match self {
            Self::All => true,
            Self::One(allowed) => allowed == origin,
            Self::Label { before, after } => origin
                .strip_prefix(before.as_str())
                .and_then(|rest| rest.strip_suffix(after.as_str()))
                .is_some_and(|label| !label.is_empty() && label.bytes().all(plain)),
        }
    }
}

/// Returns an origin in the form that browsers send: lower case, without the default port of its scheme.
fn canonical(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let (scheme, authority) = text.split_once("://")?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    if !scheme.starts_with(|symbol: char| symbol.is_ascii_alphabetic()) || !scheme.bytes().all(plain) {
        return None;
    }
    let host = HostName::of_authority(authority)?;
    let port = authority.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.contains(']'));
    let port = port.filter(|port| !port.is_empty() && !matches!((scheme, *port), ("http", "80") | ("https", "443")));
    Some(format!("{scheme}://{host}{}", port.map(|port| format!(":{port}")).unwrap_or_default()))
}

impl Cors {
    /// Checks the settings.
    pub(crate) fn new(settings: &ServerSettings, security: Security) -> Result<Self, StartError> {
        let CorsSettings { origins, credentials } = &settings.cors;
        let parsed = |text: &String| Allowed::parse(text).ok_or_else(|| StartError::CorsOrigin { text: text.clone() });
        let origins: Vec<Allowed> = origins.iter().map(parsed).collect::<Result<_, _>>()?;
        let all = origins.contains(&Allowed::All);
        match security {
            _ if *credentials && (all || origins.is_empty()) => Err(StartError::CorsCredentials),
            // Without credentials and tokens, the origin is all that tells the developer's page from a hostile one.
            Security::Development if all => Err(StartError::CorsDevelopment),
            Security::Development | Security::SignedOperations | Security::TokenCalls | Security::Full => {
                Ok(Self { origins, credentials: *credentials })
            }
        }
    }

    /// Returns whether the request comes from a page of an allowed origin and addresses the model API.
    pub(crate) fn allows<Body>(&self, request: &Request<Body>) -> bool {
        is_of_models(request.uri().path()) && self.allowed_origin(request.headers()).is_some()
    }

    /// Answers a preflight for the model API; returns `None` for other requests.
    pub(crate) fn preflight<Body>(&self, request: &Request<Body>) -> Option<Reply> {
        let headers = request.headers();
        let is_one = request.method() == Method::OPTIONS
            && is_of_models(request.uri().path())
            && headers.contains_key(ORIGIN)
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        is_one.then(|| if self.allowed_origin(headers).is_some() { permission() } else { refusal() })
    }

    /// Adds the CORS headers to an answer of the model API.
    pub(crate) fn share(&self, origin: Option<HeaderValue>, reply: &mut Reply) {
        if self.origins.is_empty() {
            return;
        }
        let headers = reply.headers_mut();
        // The answer depends on the origin even if this request has none: a cache must not give it to a page.
        headers.entry(VARY).or_insert(HeaderValue::from_static("Origin"));
        let Some(origin) = origin else { return };
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
        if self.credentials {
            headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
    }

    /// Returns the value of `Access-Control-Allow-Origin` for a request.
    pub(crate) fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = single(headers, &ORIGIN)?;
        let text = origin.to_str().ok()?;
        let allowed = self.origins.iter().find(|allowed| allowed.matches(text))?;
        Some(if *allowed == Allowed::All { HeaderValue::from_static("*") } else { origin.clone() })
    }
}

/// Returns the value of a header that occurs once.
fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    values.next().filter(|_| values.next().is_none())
}

fn permission() -> Reply {
    let mut reply = reply::text(StatusCode::NO_CONTENT, String::new());
    let headers = reply.headers_mut();
    headers.remove(CONTENT_TYPE);
    headers.insert(VARY, HeaderValue::from_static(PREFLIGHT_VARY));
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(MAX_AGE_SECS));
    reply
}

fn refusal() -> Reply {
    let advice = "Web pages of this origin may not call this server: add the origin to its CORS origins";
    let mut reply = reply::closing(reply::refusal(StatusCode::FORBIDDEN, advice));
    reply.headers_mut().insert(VARY, HeaderValue::from_static(PREFLIGHT_VARY));
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_the_form_that_browsers_send() {
        for (text, expected) in [
            ("https://app.example.com", Some("https://app.example.com")),
            ("HTTPS://App.Example.com:443", Some("https://app.example.com")),
            ("http://localhost:80", Some("http://localhost")),
            ("http://localhost:5173", Some("http://localhost:5173")),
            ("http://[::1]:3000", Some("http://[::1]:3000")),
            ("http://[::1]", Some("http://[::1]")),
            ("capacitor://localhost", Some("capacitor://localhost")),
            ("https://app.example.com/", None),
            ("https://app.example.com/path", None),
            ("https://user@app.example.com", None),
            ("app.example.com", None),
            ("null", None),
            ("", None),
            ("https://", None),
            ("https://*", None),
            ("https://a.*.example.com", None),
            ("1s://app.example.com", None),
        ] {
            let one = |text: &str| Allowed::One(text.to_owned());
            assert_eq!(Allowed::parse(text), expected.map(one), "{text}");
        }
        assert_eq!(Allowed::parse("https://*.127.0.0.1"), None);
    }

    #[test]
    fn a_wildcard_stands_for_one_label() {
        let allowed = Allowed::parse("https://*.Example.com:8443").unwrap();
        for (origin, expected) in [
            ("https://app.example.com:8443", true),
            ("https://app-1.example.com:8443", true),
            ("https://a.b.example.com:8443", false),
            ("https://example.com:8443", false),
            ("https://.example.com:8443", false),
            ("https://app.example.com", false),
            ("http://app.example.com:8443", false),
            ("https://evil.example/.example.com:8443", false),
            ("https://evil@app.example.com:8443", false),
            ("https://evilexample.com:8443", false),
            ("https://app.example.com:8443.evil.example", false),
        ] {
            assert_eq!(allowed.matches(origin), expected, "{origin}");
        }
    }
}
