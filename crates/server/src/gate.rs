//! Checks of every request before routing: it must name a host of this server, and must not come from a foreign web
//! page.
//!
//! 1. Exactly one `Host` header that parses, equal to the host of an absolute request target. Otherwise 400.
//! 2. A host that the server answers for ([`Hosts`](crate::allowed_hosts::Hosts)). Otherwise 421.
//! 3. In development mode only the origin distinguishes the developer's page from any other, so foreign origins get
//! 403. With credentials or tokens, browsers attach nothing automatically, and pages of any origin may call.
//!
//! SDKs and `curl` send no `Origin` and pass.

use hyper::header::{HOST, ORIGIN};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request, StatusCode, Version};

use crate::allowed_hosts::{HostName, Hosts};
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
                rejects: open the page from localhost, add the page's host to the allowed hosts, or configure \
                credentials and a token key"
                .to_owned(),
        };
        reply::closing(reply::refusal(self.status(), &message))
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NoHost | Self::TwoHosts | Self::MalformedHost | Self::TwoNames => StatusCode::BAD_REQUEST,
            Self::ForeignHost(_) => StatusCode::MISDIRECTED_REQUEST,
            Self::ForeignPage => StatusCode::FORBIDDEN,
        }
    }
}

/// Checks the host and, in development mode, the origin.
pub(crate) fn check<Body>(hosts: &Hosts, security: Security, request: &Request<Body>) -> Result<(), Refusal> {
    let host = host_of(request)?;
    check_host(hosts, host, request.uri().path())?;
    match security {
        Security::Development => check_origin(hosts, request.headers()),
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
