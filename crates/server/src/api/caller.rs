//! Caller authentication: converts the claims of a bearer token to the types of the model's `caller`.
//!
//! Without keys, tokens cannot be verified. A server on loopback then trusts the header `X-Keyform-Caller: userId=…;
//! role=…`, for development, and logs a warning.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use keyform_check::surface::{Audience, Pattern};
use keyform_core::{Attributes, World};
use keyform_flow::TokenKeys;
use keyform_flow::token::{self, Refusal};
use keyform_language::schema::{Field, Model};
use keyform_runtime::run::{Caller, fits, json};

use super::claims;
use super::problem::{self, Problem};
use crate::identity::{Issuer, Provider, RETRY_AFTER_SECS, Unverified};

/// Header that is trusted in development mode only.
pub(super) const DEVELOPMENT: &str = "x-keyform-caller";

/// Authentication mode of the server.
pub(crate) enum Authentication {
    /// Callers must present a verified token.
    Tokens {
        keys: TokenKeys,
        /// Identity providers; each verifies the tokens that name it in `iss`, and `keys` all others.
        providers: Vec<Arc<Provider>>,
        world: Arc<dyn World>,
    },
    /// Callers name themselves in the [`DEVELOPMENT`] header; nothing is verified.
    Development {
        /// Verifies tokens that the server's own flows issued.
        keys: TokenKeys,
        world: Arc<dyn World>,
        /// Set after the first use of the header, so that the warning is logged once.
        warned: AtomicBool,
    },
}

impl Authentication {
    pub(crate) fn new(keys: TokenKeys, issuers: Vec<Issuer>, world: &Arc<dyn World>) -> Self {
        let world = world.clone();
        if keys.is_empty() && issuers.is_empty() {
            return Self::Development { keys, world, warned: AtomicBool::new(false) };
        }
        let provider = |issuer| Arc::new(Provider::new(issuer, world.clone()));
        Self::Tokens { keys, providers: issuers.into_iter().map(provider).collect(), world }
    }

    /// Returns the identity providers, whose keys the server must keep up to date.
    pub(crate) fn providers(&self) -> &[Arc<Provider>] {
        match self {
            Self::Tokens { providers, .. } => providers,
            Self::Development { .. } => &[],
        }
    }

    /// Returns the reason why tokens of an identity provider cannot be verified, if any.
    pub(crate) fn unready(&self) -> Option<String> {
        self.providers().iter().find_map(|provider| provider.unready())
    }

    /// Fetches the key of a request's token if its identity provider has published a new one.
    pub(super) async fn prepare(&self, headers: &HeaderMap) {
        if self.providers().is_empty() {
            return;
        }
        let Ok(Some(token)) = bearer(headers) else { return };
        let named = token::peek(token);
        if let Some(provider) = self.provider(&named) {
            provider.prepare(named.key_id.as_deref()).await;
        }
    }

    fn provider(&self, named: &token::Unverified) -> Option<&Arc<Provider>> {
        let issuer = named.issuer.as_deref()?;
        self.providers().iter().find(|provider| provider.issues(issuer))
    }

    /// Verifies a token and returns its claims.
    fn verify(&self, token: &str) -> Result<serde_json::Map<String, serde_json::Value>, Unverified> {
        let (Self::Tokens { keys, world, .. } | Self::Development { keys, world, .. }) = self;
        match self.provider(&token::peek(token)) {
            Some(provider) => provider.verify(token),
            // Without keys, the issuer is what the caller can correct.
            None if keys.is_empty() && !self.providers().is_empty() => Err(Unverified::Refused(Refusal::Issuer)),
            None => token::verify(keys, token, world.system_time()).map_err(Unverified::Refused),
        }
    }

    /// Returns the caller of a pattern.
    ///
    /// # Errors
    /// The pattern requires a known caller and the request does not identify one.
    pub(super) fn caller(&self, headers: &HeaderMap, model: &Model, pattern: Pattern<'_>) -> Result<Caller, Problem> {
        let anonymous = match pattern.audience(model) {
            Audience::Everybody => !pattern.wants_caller(model),
            // Without a `caller` block the model cannot tell callers apart. A configured key still requires a valid
            // token.
            _ => model.caller.is_none() && matches!(self, Self::Development { .. }),
        };
        self.claimant(headers, model, anonymous)
    }

    /// Returns the caller, or empty claims if they are absent and `anonymous` callers are allowed.
    ///
    /// # Errors
    /// The request does not identify its caller and `anonymous` is false.
    pub(super) fn claimant(&self, headers: &HeaderMap, model: &Model, anonymous: bool) -> Result<Caller, Problem> {
        match self.claims(headers, model)? {
            Some(claims) => Ok(Caller::Claims(claims)),
            None if anonymous => Ok(Caller::Claims(Attributes::new())),
            None => Err(self.unknown(model)),
        }
    }

    /// Returns the claims from the token or the development header, if the request has either.
    ///
    /// # Errors
    /// The token is invalid or lacks a required claim.
    pub(super) fn claims(&self, headers: &HeaderMap, model: &Model) -> Result<Option<Attributes>, Problem> {
        match self {
            Self::Tokens { .. } => self.by_token(headers, model),
            Self::Development { keys, .. } if keys.can_issue() && headers.contains_key(AUTHORIZATION) => {
                self.by_token(headers, model)
            }
            Self::Development { warned, .. } => by_word(warned, headers, model),
        }
    }

    /// Returns the remaining lifetime of the caller's token.
    pub(super) fn lasts(&self, headers: &HeaderMap) -> Option<Duration> {
        let (Self::Tokens { world, .. } | Self::Development { world, .. }) = self;
        let (_, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
        match self.verify(token.trim()) {
            Ok(claims) => token::end(&claims).map(|end| end.duration_since(world.system_time()).unwrap_or_default()),
            // An invalid or expired token has already ended.
            Err(_) => Some(Duration::ZERO),
        }
    }

    /// Returns the claims of the bearer token, or `None` without one.
    fn by_token(&self, headers: &HeaderMap, model: &Model) -> Result<Option<Attributes>, Problem> {
        let Some(token) = bearer(headers)? else { return Ok(None) };
        let claims = self.verify(token).map_err(|unverified| match unverified {
            Unverified::Refused(refusal) => invalid(refusal.text()),
            Unverified::NoKeys => {
                let detail = "the keys of the token's issuer are not available yet: try again";
                Problem::new(problem::NO_KEYS, detail).retry_after(RETRY_AFTER_SECS)
            }
        })?;
        let claim = |field: &Field| claims::of_token(model.caller.as_ref()?, field, &claims);
        typed(model, claim).map(Some)
    }

    fn unknown(&self, model: &Model) -> Problem {
        let first = model.caller.as_ref().and_then(|caller| caller.fields.first());
        match self {
            Self::Tokens { .. } => unauthenticated("send a token: Authorization: Bearer …"),
            Self::Development { .. } => unauthenticated(&format!(
                "name the caller: X-Keyform-Caller: {}=…",
                first.map_or("name", |field| &field.name)
            )),
        }
    }
}

fn unauthenticated(detail: &str) -> Problem {
    Problem::new(problem::UNAUTHENTICATED, detail).with_header("www-authenticate", "Bearer")
}

fn invalid(detail: &str) -> Problem {
    Problem::new(problem::UNAUTHENTICATED, detail).with_header("www-authenticate", "Bearer error=\"invalid_token\"")
}

/// Returns the bearer token, or `None` without an `Authorization` header.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let value = value.to_str().ok().filter(|_| values.next().is_none());
    let token =
        value.and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    match token {
        Some((_, token)) => Ok(Some(token.trim())),
        None => Err(invalid("the Authorization header is not a single `Bearer` token")),
    }
}

/// Returns the claims of the development header, or `None` without it.
fn by_word(warned: &AtomicBool, headers: &HeaderMap, model: &Model) -> Result<Option<Attributes>, Problem> {
    let Some(value) = headers.get(DEVELOPMENT) else { return Ok(None) };
    if !warned.swap(true, Ordering::Relaxed) {
        tracing::warn!("caller taken from the X-Keyform-Caller header (development mode, not verified)");
    }
    let text = value.to_str().map_err(|_| invalid("the X-Keyform-Caller header is not valid text"))?;
    let pairs: Vec<(&str, &str)> = text
        .split(';')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.trim(), value.trim()))
        .collect();
    let claim = |field: &Field| {
        let given = pairs.iter().find(|(name, _)| *name == field.name);
        given.map(|(_, value)| json::from_text(value, &field.kind))
    };
    typed(model, claim).map(Some)
}

/// Converts the claims that the model declares to their types; ignores the others.
fn typed(
    model: &Model,
    claim: impl Fn(&Field) -> Option<Option<keyform_core::AttributeValue>>,
) -> Result<Attributes, Problem> {
    let mut claims = Attributes::new();
    for field in model.caller.iter().flat_map(|caller| &caller.fields) {
        match claim(field) {
            None if field.optional => {}
            None => return Err(invalid(&format!("the caller has no claim `{}`", field.name))),
            Some(Some(value)) if fits(&value, &field.kind) => {
                claims.insert(field.name.clone(), value);
            }
            Some(_) => {
                return Err(invalid(&format!("the caller's claim `{}` does not have its declared type", field.name)));
            }
        }
    }
    Ok(claims)
}
