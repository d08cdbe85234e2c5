//! Downloads the keys of an OpenID provider.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::header::{ACCEPT, CACHE_CONTROL, USER_AGENT};
use hyper::{HeaderMap, Request, StatusCode};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use keyform_flow::TokenKeys;

use super::discovery;

/// Larger documents are rejected; those of large providers have a few kilobytes.
const DOCUMENT_BYTES_MAX: usize = 512 * 1024;

pub(super) struct Fetcher {
    client: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
}

impl Fetcher {
    /// Creates a client that trusts the certificates of the system.
    ///
    /// # Errors
    /// The reason why the certificates cannot be read.
    pub(super) fn new() -> Result<Self, String> {
        let builder = HttpsConnectorBuilder::new().with_native_roots();
        let builder = builder.map_err(|error| format!("cannot read the certificates of the system: {error}"))?;
        let connector = builder.https_or_http().enable_http1().build();
        // Requests are minutes apart: an idle connection would be closed by then.
        Ok(Self { client: Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector) })
    }

    /// Downloads the configuration and the key set; returns the keys and how long to keep them.
    ///
    /// # Errors
    /// The reason why there are no keys.
    pub(super) async fn keys(&self, issuer: &str) -> Result<(TokenKeys, Duration), String> {
        let (_, configuration) = self.get(&discovery::configuration_url(issuer)).await?;
        let (headers, keys) = self.get(&discovery::key_set_url(issuer, &configuration)?).await?;
        let lifetime = discovery::lifetime(headers.get(CACHE_CONTROL).and_then(|value| value.to_str().ok()));
        Ok((TokenKeys::published(&keys).map_err(|error| error.to_string())?, lifetime))
    }

    /// Downloads a document. Redirects are not followed.
    async fn get(&self, url: &str) -> Result<(HeaderMap, Bytes), String> {
        let failed = |error: &dyn Error| format!("cannot get {url}: {}", causes(error));
        let request = Request::get(url).header(ACCEPT, "application/json").header(USER_AGENT, "keyform");
        let request = request.body(Empty::new()).map_err(|error| failed(&error))?;
        let response = self.client.request(request).await.map_err(|error| failed(&error))?;
        if response.status() != StatusCode::OK {
            return Err(format!("{url} answers {}", response.status()));
        }
        let (head, body) = response.into_parts();
        let body = Limited::new(body, DOCUMENT_BYTES_MAX).collect().await.map_err(|error| failed(&*error))?;
        Ok((head.headers, body.to_bytes()))
    }
}

/// Joins an error with its causes, because the client's own message names none of them.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
