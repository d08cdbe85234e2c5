//! Who calls: the claims of a bearer token in the types of the model's `caller`.
//!
//! Without keys there is nobody to verify tokens with. A server on loopback then believes the header `X-Keyform-Caller: userId=…; role=…`, for
//! development, and says so loudly.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use keyform_core::Attributes;
use keyform_language::schema::{Field, Model};
use keyform_language::surface::{Audience, Pattern};
use keyform_runtime::run::{Caller, fits, json};

use super::problem::{self, Problem};
use super::token;
use super::token_keys::TokenKeys;
use crate::settings::Clock;

/// The header that is believed in development.
pub(super) const DEVELOPMENT: &str = "x-keyform-caller";

/// How callers prove who they are.
pub(crate) enum Authentication {
    /// By tokens.
    Tokens {
        /// The keys they are verified with.
        keys: TokenKeys,
        /// The time they are compared with.
        clock: Clock,
    },
    /// Not at all: they say it.
    Development {
        /// The keys of tokens that the server's own flows have issued.
        keys: TokenKeys,
        /// The time they are compared with.
        clock: Clock,
        /// Whether the log has said so since a caller made use of it.
        warned: AtomicBool,
    },
}

impl Authentication {
    pub(crate) fn new(keys: TokenKeys, clock: Clock) -> Self {
        if keys.is_empty() {
            Self::Development { keys, clock, warned: AtomicBool::new(false) }
        } else {
            Self::Tokens { keys, clock }
        }
    }

    /// Who calls a pattern.
    ///
    /// # Errors
    /// The caller is not known, and must be.
    pub(super) fn caller(&self, headers: &HeaderMap, model: &Model, pattern: Pattern<'_>) -> Result<Caller, Problem> {
        let anonymous = match pattern.audience(model) {
            Audience::Everybody => !pattern.wants_caller(model),
            // Without a `caller` nobody is told from anybody; a key that is configured still keeps strangers out.
            _ => model.caller.is_none() && matches!(self, Self::Development { .. }),
        };
        self.claimant(headers, model, anonymous)
    }

    /// Who calls, where some may be `anonymous`.
    ///
    /// # Errors
    /// The caller is not known, and must be.
    pub(super) fn claimant(&self, headers: &HeaderMap, model: &Model, anonymous: bool) -> Result<Caller, Problem> {
        match self.claims(headers, model)? {
            Some(claims) => Ok(Caller::Claims(claims)),
            None if anonymous => Ok(Caller::Claims(Attributes::new())),
            None => Err(self.unknown(model)),
        }
    }

    /// What the caller proves or says, if anything.
    ///
    /// # Errors
    /// The token does not hold, or lacks a claim.
    pub(super) fn claims(&self, headers: &HeaderMap, model: &Model) -> Result<Option<Attributes>, Problem> {
        match self {
            Self::Tokens { keys, clock } => by_token(keys, clock(), headers, model),
            Self::Development { keys, clock, .. } if keys.can_issue() && headers.contains_key(AUTHORIZATION) => {
                by_token(keys, clock(), headers, model)
            }
            Self::Development { warned, .. } => by_word(warned, headers, model),
        }
    }

    /// When the caller's token ends.
    pub(super) fn ends(&self, headers: &HeaderMap) -> Option<SystemTime> {
        let (Self::Tokens { keys, clock } | Self::Development { keys, clock, .. }) = self;
        let (_, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
        match token::verify(keys, token.trim(), clock()) {
            Ok(claims) => token::end(&claims),
            // One that holds no longer has ended already.
            Err(_) => Some(SystemTime::UNIX_EPOCH),
        }
    }

    fn unknown(&self, model: &Model) -> Problem {
        let first = model.caller.as_ref().and_then(|caller| caller.fields.first());
        match self {
            Self::Tokens { .. } => unauthenticated("send a token: Authorization: Bearer …"),
            Self::Development { .. } => unauthenticated(&format!(
                "say who calls: X-Keyform-Caller: {}=…",
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

/// The claims of a token; nothing if there is no token.
fn by_token(
    keys: &TokenKeys,
    now: SystemTime,
    headers: &HeaderMap,
    model: &Model,
) -> Result<Option<Attributes>, Problem> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let value = value.to_str().ok().filter(|_| values.next().is_none());
    let token =
        value.and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let Some((_, token)) = token else { return Err(invalid("the header Authorization is not one `Bearer` token")) };
    let claims = token::verify(keys, token.trim(), now).map_err(|refusal| invalid(refusal.text()))?;
    let claim = |field: &Field| {
        let given = claims.get(&field.name).filter(|value| !value.is_null());
        given.map(|value| json::from_json(value, &field.kind))
    };
    typed(model, claim).map(Some)
}

/// What the header for development says; nothing if it is not there.
fn by_word(warned: &AtomicBool, headers: &HeaderMap, model: &Model) -> Result<Option<Attributes>, Problem> {
    let Some(value) = headers.get(DEVELOPMENT) else { return Ok(None) };
    if !warned.swap(true, Ordering::Relaxed) {
        tracing::warn!("caller taken from the X-Keyform-Caller header (development mode, not verified)");
    }
    let text = value.to_str().map_err(|_| invalid("the header X-Keyform-Caller is not text"))?;
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

/// The model's claims, each of its type; those the model does not name are left out.
fn typed(
    model: &Model,
    claim: impl Fn(&Field) -> Option<Option<keyform_core::AttributeValue>>,
) -> Result<Attributes, Problem> {
    let mut claims = Attributes::new();
    for field in model.caller.iter().flat_map(|caller| &caller.fields) {
        match claim(field) {
            None if field.optional => {}
            None => return Err(invalid(&format!("the caller has no `{}`", field.name))),
            Some(Some(value)) if fits(&value, &field.kind) => {
                claims.insert(field.name.clone(), value);
            }
            Some(_) => return Err(invalid(&format!("the caller's `{}` is not of its type", field.name))),
        }
    }
    Ok(claims)
}
