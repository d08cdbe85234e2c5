//! Identity of a live-read client, and the time it expires.

use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use keyform_check::surface::{Audience, Pattern};
use keyform_core::Attributes;
use keyform_language::schema::Model;
use keyform_runtime::run::Caller;

use super::super::caller::Authentication;
use super::super::problem::{self, Problem};

/// WebSocket subprotocol of live reads.
pub(super) const PROTOCOL: &str = "keyform.live.v1";
/// Prefix of a subprotocol that carries a token. Browsers cannot set headers on a WebSocket handshake.
const TOKEN_PROTOCOL: &str = "keyform.token.";

/// Client's credentials, kept as request headers so that HTTP and live calls authenticate the same way.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    headers: HeaderMap,
}

impl Access {
    /// Reads the credentials from the handshake: headers or a token subprotocol.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut access = Self::default();
        for name in [AUTHORIZATION, HeaderName::from_static(super::super::caller::DEVELOPMENT)] {
            for value in headers.get_all(&name) {
                access.headers.append(name.clone(), value.clone());
            }
        }
        let token = protocols(headers).find_map(|name| name.strip_prefix(TOKEN_PROTOCOL));
        match token {
            Some(token) if access.headers.is_empty() => Self::bearer(token).unwrap_or(access),
            _ => access,
        }
    }

    /// Reads the credentials from an `authenticate` message: a token or, in development mode, the value of the header.
    pub(super) fn said(authentication: &Authentication, token: &str) -> Result<Self, Problem> {
        let wrong = || Problem::new(problem::UNAUTHENTICATED, "the token is not ASCII text");
        // A development value contains an equals sign (`userId=…`); a token never does.
        if matches!(authentication, Authentication::Tokens { .. }) || !token.contains('=') {
            return Self::bearer(token).ok_or_else(wrong);
        }
        let value = HeaderValue::from_str(token).map_err(|_| wrong())?;
        let name = HeaderName::from_static(super::super::caller::DEVELOPMENT);
        Ok(Self { headers: [(name, value)].into_iter().collect() })
    }

    fn bearer(token: &str) -> Option<Self> {
        let value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        Some(Self { headers: [(AUTHORIZATION, value)].into_iter().collect() })
    }

    /// Waits for the key of the client's token, if it is not known.
    pub(super) async fn prepare(&self, authentication: &Authentication) {
        authentication.prepare(&self.headers).await;
    }

    /// Returns the client's claims in the model, if it authenticated.
    pub(super) fn claims(&self, authentication: &Authentication, model: &Model) -> Result<Option<Attributes>, Problem> {
        authentication.claims(&self.headers, model)
    }

    /// Returns the caller of a read; fails if callers cannot reach the pattern.
    pub(super) fn caller(
        &self,
        authentication: &Authentication,
        model: &Model,
        pattern: Pattern<'_>,
    ) -> Result<Caller, Problem> {
        match pattern.audience(model) {
            Audience::Nobody => return Err(Problem::new(problem::UNKNOWN_PATH, "the model has no such read")),
            Audience::System => {
                return Err(Problem::new(problem::FORBIDDEN, "this read is for code only, not for callers"));
            }
            Audience::Everybody | Audience::Callers => {}
        }
        authentication.caller(&self.headers, model, pattern)
    }

    /// Returns the remaining lifetime of the client's token, or `None` without one.
    pub(super) fn lasts(&self, authentication: &Authentication) -> Option<Duration> {
        authentication.lasts(&self.headers)
    }
}

/// Returns whether the client offers our subprotocol.
pub(super) fn names_protocol(headers: &HeaderMap) -> bool {
    protocols(headers).any(|name| name == PROTOCOL)
}

fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lists = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim)
}
