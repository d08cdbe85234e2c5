//! Who a client of live reads is, and until when.

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use keyform_core::Attributes;
use keyform_language::schema::Model;
use keyform_language::surface::{Audience, Pattern};
use keyform_runtime::run::Caller;

use super::super::caller::Authentication;
use super::super::problem::{self, Problem};

/// The subprotocol of live reads.
pub(super) const PROTOCOL: &str = "keyform.live.v1";
/// What a subprotocol begins with that carries a token: browsers cannot set headers.
const TOKEN_PROTOCOL: &str = "keyform.token.";

/// What a client has said of itself, as the headers of a request would.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    headers: HeaderMap,
}

impl Access {
    /// What the handshake says.
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

    /// What a message says: a token, or in development what the header would.
    pub(super) fn said(authentication: &Authentication, token: &str) -> Result<Self, Problem> {
        let wrong = || Problem::new(problem::UNAUTHENTICATED, "the token is not text of ASCII");
        // What is said in development has an equals sign, `userId=…`; a token has none.
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

    /// Who the client is in a model, if it has said so.
    pub(super) fn claims(&self, authentication: &Authentication, model: &Model) -> Result<Option<Attributes>, Problem> {
        authentication.claims(&self.headers, model)
    }

    /// Who calls a read, if it is one that callers may reach.
    pub(super) fn caller(
        &self,
        authentication: &Authentication,
        model: &Model,
        pattern: Pattern<'_>,
    ) -> Result<Caller, Problem> {
        match pattern.audience(model) {
            Audience::Nobody => return Err(Problem::new(problem::UNKNOWN_PATH, "the model has no such read")),
            Audience::System => {
                return Err(Problem::new(problem::FORBIDDEN, "this read is for code, not for callers"));
            }
            Audience::Everybody | Audience::Callers => {}
        }
        authentication.caller(&self.headers, model, pattern)
    }

    /// How long the client's token holds from now on; nothing if it has none.
    pub(super) fn lasts(&self, authentication: &Authentication) -> Option<Duration> {
        let ends = authentication.ends(&self.headers)?;
        Some(ends.duration_since(SystemTime::now()).unwrap_or_default())
    }
}

/// Whether the client speaks our subprotocol by name.
pub(super) fn names_protocol(headers: &HeaderMap) -> bool {
    protocols(headers).any(|name| name == PROTOCOL)
}

fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lists = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim)
}
