//! What every request passes before it is routed: it names a host that the server answers for, and no foreign web page sent it.
//!
//! 1. There is one `Host`, and it can be parsed; a target with a host of its own names the same one. Else 400.
//! 2. The host is one that the server answers for ([`Hosts`](crate::host::Hosts)). Else 421.
//! 3. In development, nothing but the origin tells a page of the developer from a page of a stranger: a foreign one is refused with 403. With
//!    credentials or tokens there is nothing that a browser sends along by itself, and pages of any origin may call.
//!
//! SDKs and `curl` send no `Origin` and pass.

use hyper::header::{HOST, ORIGIN};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request, StatusCode, Version};

use crate::host::{HostName, Hosts};
use crate::reply::{self, Reply};
use crate::security::Security;

/// Why a request is not routed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    NoHost,
    TwoHosts,
    /// The host cannot be parsed.
    MalformedHost,
    /// The header and the target name different hosts.
    TwoNames,
    /// The server does not answer for this host.
    ForeignHost(HostName),
    /// A web page of another site sent the request.
    ForeignPage,
}

impl Refusal {
    /// The answer. The body of the request was not read, so the connection ends with it.
    pub(crate) fn reply(&self) -> Reply {
        let message = match self {
            Self::NoHost => "The request has no Host header: send one".to_owned(),
            Self::TwoHosts => "The request has two Host headers: send one".to_owned(),
            Self::MalformedHost => "The host of the request cannot be parsed: send Host: NAME or NAME:PORT".to_owned(),
            Self::TwoNames => "The Host header and the request target name different hosts: send one name".to_owned(),
            Self::ForeignHost(host) => format!(
                "This server does not answer requests for {host}: use localhost, or start the server with --allowed-host {host}"
            ),
            Self::ForeignPage => "A web page of another site sent this request, and a server in development mode refuses those: open the page from localhost, start the server with --allowed-host and the page's host, or configure credentials and a token key".to_owned(),
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

/// Lets a request through, or says why not.
pub(crate) fn check<Body>(hosts: &Hosts, security: Security, request: &Request<Body>) -> Result<(), Refusal> {
    let host = host_of(request)?;
    check_host(hosts, host, request.uri().path())?;
    match security {
        Security::Development => check_origin(hosts, request.headers()),
        Security::SignedOperations | Security::TokenCalls | Security::Full => Ok(()),
    }
}

/// The host that a request addresses. Requests of HTTP/1.0 may have none.
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
        // Images, scripts and links of a page come without an origin.
        None => !headers.get_all("sec-fetch-site").iter().any(|site| site == "cross-site"),
    };
    if own { Ok(()) } else { Err(Refusal::ForeignPage) }
}

/// The host of a web page; `null` and pages that are not from the web have none.
fn host_of_origin(origin: &str) -> Option<HostName> {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"))?;
    HostName::of_authority(authority)
}

/// Whether a request proves to have credentials: by a signature, or by HTTP Basic with an access key and its secret, as Prometheus sends it.
pub(crate) fn has_credentials(verifier: &crate::sigv4::Verifier, head: &Parts) -> bool {
    verifier.admits_basic(&head.headers) || verifier.verify(head, b"").is_ok()
}
