//! Checks of every request before routing: it must name a host of this server, and must not come from a foreign web
//! page.
//!
//! 1. Exactly one `Host` header that parses, equal to the host of an absolute request target. Otherwise 400.
//! 2. A host that the server answers for ([`Hosts`](crate::allowed_hosts::Hosts)). Otherwise 421.
//! 3. In development mode only the origin distinguishes the developer's page from any other, so pages of foreign
//!    origins get 403. With credentials or tokens, browsers attach nothing automatically, and pages of any origin may
//!    send calls; only [`Cors`] lets them read the answers.
//! 4. Browsers let pages of any origin read from a WebSocket, so a handshake must come from a page of the same origin
//!    as the server or one that [`Cors`] allows. Otherwise 403.
//!
//! SDKs and `curl` send no `Origin` and pass.

use hyper::header::{HOST, ORIGIN};
use hyper::http::HeaderValue;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request, StatusCode, Version};

use crate::allowed_hosts::{HostName, Hosts};
use crate::api::live;
use crate::cors::Cors;
use crate::proxies::Scheme;
use crate::reply::{self, Reply};
use crate::security::Security;

/// Reason for refusing a request before routing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    NoHost,
    TwoHosts,
    /// The host does not parse.
    MalformedHost,
    /// Header and request target name different hosts.
    TwoNames,
    /// The server does not answer for this host.
    ForeignHost(HostName),
    /// A web page of another site sent the request.
    ForeignPage,
    /// A web page of another origin sent a WebSocket handshake.
    ForeignSocket,
}

impl Refusal {
    /// Returns the response. It closes the connection, because the body was not read.
    pub(crate) fn reply(&self) -> Reply {
        let message = match self {
            Self::NoHost => "The request has no Host header: send one".to_owned(),
            Self::TwoHosts => "The request has two Host headers: send one".to_owned(),
            Self::MalformedHost => "The host of the request cannot be parsed: send Host: NAME or NAME:PORT".to_owned(),
            Self::TwoNames => "The Host header and the request target name different hosts: send one name".to_owned(),
            Self::ForeignHost(host) => format!(
                "This server does not accept requests for {host}: use localhost, or add {host} to its allowed hosts"
            ),
            Self::ForeignPage => "A web page of another site sent this request, which a server in development mode \
                rejects: open the page from localhost, add the page's host to the allowed hosts, add its origin to \
                the CORS origins, or configure credentials and a token key"
                .to_owned(),
            Self::ForeignSocket => "A web page of another origin may not follow live reads of this server: add the \
                page's origin to the CORS origins"
                .to_owned(),
        };
        reply::closing(reply::refusal(self.status(), &message))
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NoHost | Self::TwoHosts | Self::MalformedHost | Self::TwoNames => StatusCode::BAD_REQUEST,
            Self::ForeignHost(_) => StatusCode::MISDIRECTED_REQUEST,
            Self::ForeignPage | Self::ForeignSocket => StatusCode::FORBIDDEN,
        }
    }
}

/// Checks the host, and the origin where the server depends on it.
pub(crate) fn check<Body>(
    hosts: &Hosts,
    cors: &Cors,
    security: Security,
    request: &Request<Body>,
) -> Result<(), Refusal> {
    let host = host_of(request)?;
    check_host(hosts, host, request.uri().path())?;
    if cors.allows(request) {
        return Ok(());
    }
    match security {
        Security::Development => check_origin(hosts, request.headers()),
        Security::SignedOperations | Security::TokenCalls | Security::Full if live::is_wanted(request) => {
            check_socket(request)
        }
        Security::SignedOperations | Security::TokenCalls | Security::Full => Ok(()),
    }
}

/// Returns the host that a request addresses. HTTP/1.0 requests may omit it.
fn host_of<Body>(request: &Request<Body>) -> Result<Option<HostName>, Refusal> {
    let mut fields = request.headers().get_all(HOST).iter();
    let (field, second) = (fields.next(), fields.next());
    if second.is_some() {
        return Err(Refusal::TwoHosts);
    }
    let parsed = |text: &str| HostName::of_authority(text).ok_or(Refusal::MalformedHost);
    let named = field.map(|field| parsed(field.to_str().unwrap_or_default())).transpose()?;
    let target = request.uri().authority().map(|authority| parsed(authority.as_str())).transpose()?;
    match (named, target) {
        (None, _) if request.version() != Version::HTTP_10 => Err(Refusal::NoHost),
        (Some(named), Some(target)) if named != target => Err(Refusal::TwoNames),
        (named, target) => Ok(named.or(target)),
    }
}

fn check_host(hosts: &Hosts, host: Option<HostName>, path: &str) -> Result<(), Refusal> {
    match host {
        Some(host) if hosts.answer_for(&host, path) => Ok(()),
        Some(host) => Err(Refusal::ForeignHost(host)),
        None if hosts.may_be_absent(path) => Ok(()),
        None => Err(Refusal::NoHost),
    }
}

fn check_origin(hosts: &Hosts, headers: &HeaderMap) -> Result<(), Refusal> {
    let mut origins = headers.get_all(ORIGIN).iter();
    let (origin, second) = (origins.next(), origins.next());
    let own = match origin.map(|origin| origin.to_str().unwrap_or_default()) {
        Some(origin) => second.is_none() && host_of_origin(origin).is_some_and(|host| hosts.include(&host)),
        // Browsers send images, scripts and links without `Origin`, but with `Sec-Fetch-Site`.
        None => !headers.get_all("sec-fetch-site").iter().any(|site| site == "cross-site"),
    };
    if own { Ok(()) } else { Err(Refusal::ForeignPage) }
}

/// Checks that a handshake comes from a program, or from a page of the host and port that it addresses. The scheme may
/// differ if the server does not know it, because a proxy may have removed TLS.
fn check_socket<Body>(request: &Request<Body>) -> Result<(), Refusal> {
    let headers = request.headers();
    let scheme = request.extensions().get::<Option<Scheme>>().copied().flatten();
    let mut origins = headers.get_all(ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => Ok(()),
        (Some(origin), None) if is_of_host(origin, headers.get(HOST), scheme) == Some(true) => Ok(()),
        (Some(_), _) => Err(Refusal::ForeignSocket),
    }
}

/// Returns whether an origin has the host and the port of a `Host` header; `None` if either is malformed.
fn is_of_host(origin: &HeaderValue, host: Option<&HeaderValue>, known: Option<Scheme>) -> Option<bool> {
    let (origin, host) = (origin.to_str().ok()?, host?.to_str().ok()?);
    let (scheme, authority) = origin.split_once("://")?;
    let as_known = match known {
        None => true,
        Some(Scheme::Https) => scheme == "https",
        Some(Scheme::Http) => scheme == "http",
    };
    let default = if scheme == "https" { "443" } else { "80" };
    let port = |authority: &str| {
        let (_, port) = authority.rsplit_once(':').unwrap_or_default();
        if port.is_empty() || port.contains(']') { default.to_owned() } else { port.to_owned() }
    };
    Some(as_known && host_of_origin(origin)? == HostName::of_authority(host)? && port(authority) == port(host))
}

/// Returns the host of a web origin; `null` and non-web origins have none.
fn host_of_origin(origin: &str) -> Option<HostName> {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?;
    HostName::of_authority(authority)
}

/// Returns whether a request has valid credentials: a signature, or HTTP Basic with an access key and its secret, which
/// Prometheus uses.
pub(crate) fn has_credentials(verifier: &crate::sigv4::Verifier, head: &Parts) -> bool {
    verifier.admits_basic(&head.headers) || verifier.verify(head, b"").is_ok()
}
