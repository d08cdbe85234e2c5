//! Error responses as `application/problem+json` (RFC 9457).

use std::borrow::Cow;

use keyform_core::ErrorCode;
use keyform_core::error::Detail;
use keyform_flow::Throttled;
use keyform_language::schema::Model;
use keyform_runtime::accept::Reason;
use keyform_runtime::run::{BrokenItem, Found, RunError, json};
use serde_json::{Map, Value};

/// Problem document and the header that goes with it.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    sort: Sort,
    detail: String,
    outcome: Option<String>,
    item: Option<Box<Value>>,
    /// Members that name a broken item: `table`, `key` and `field`.
    broken: Option<Box<Map<String, Value>>>,
    header: Option<(&'static str, Cow<'static, str>)>,
}

/// Last segment of the type URI, status and title.
pub(super) type Sort = &'static (&'static str, u16, &'static str);

pub(super) const ARGUMENTS: Sort = &("arguments", 400, "Invalid arguments");
pub(super) const CURSOR: Sort = &("cursor", 400, "Invalid cursor");
pub(super) const BODY: Sort = &("body", 400, "Unreadable body");
pub(super) const TOO_LARGE: Sort = &("too-large", 413, "Body too large");
pub(super) const MEDIA_TYPE: Sort = &("media-type", 415, "The body must be JSON");
pub(super) const UNAUTHENTICATED: Sort = &("unauthenticated", 401, "Caller not authenticated");
pub(super) const FORBIDDEN: Sort = &("forbidden", 403, "Caller not allowed");
pub(super) const UNKNOWN_PATH: Sort = &("unknown-path", 404, "Unknown path");
pub(super) const NOT_FOUND: Sort = &("not-found", 404, "Item not found");
pub(super) const METHOD: Sort = &("method", 405, "Method not allowed");
pub(super) const REFUSED: Sort = &("refused", 409, "Write refused");
pub(super) const CONFLICT: Sort = &("conflict", 409, "Item changed since it was read");
pub(super) const KEY_REUSED: Sort = &("idempotency-key", 422, "Idempotency key used for another call");
pub(super) const TOKEN: Sort = &("token", 400, "Invalid token");
pub(super) const TOO_MANY: Sort = &("too-many", 429, "Limit reached");
pub(super) const THROTTLED: Sort = &("throttled", 429, "Too many attempts");
pub(super) const NOT_RUNNABLE: Sort = &("not-runnable", 501, "The store cannot run this pattern");
pub(super) const BUSY: Sort = &("busy", 503, "Too many concurrent writes");
pub(super) const OVERLOADED: Sort = &("overloaded", 503, "Server overloaded");
pub(super) const DEADLINE: Sort = &("deadline", 504, "Flow stopped at its deadline");
pub(super) const BROKEN_ITEM: Sort = &("broken-item", 500, "Stored item does not fit the model");
pub(super) const INTERNAL: Sort = &("internal", 500, "Internal server error");
pub(super) const UNKNOWN: Sort = &("outcome-unknown", 504, "Outcome of the write unknown");
pub(super) const UNAVAILABLE: Sort = &("unavailable", 503, "Store unavailable");
pub(super) const NO_KEYS: Sort = &("identity-provider", 503, "Identity provider unavailable");
pub(super) const NOT_ACCEPTED: Sort = &("model-not-accepted", 503, "Model not accepted by the store");
pub(super) const STORE: Sort = &("store", 502, "Store failed");

impl Problem {
    pub(super) fn new(sort: Sort, detail: impl Into<String>) -> Self {
        Self { sort, detail: detail.into(), outcome: None, item: None, broken: None, header: None }
    }

    /// Returns the last segment of the type URI.
    pub(super) fn kind(&self) -> &'static str {
        self.sort.0
    }

    pub(super) fn detail(&self) -> &str {
        &self.detail
    }

    pub(super) fn status(&self) -> u16 {
        self.sort.1
    }

    /// Creates a refusal with a named outcome.
    pub(super) fn refused(outcome: String, detail: String) -> Self {
        Self { outcome: Some(outcome), ..Self::new(REFUSED, detail) }
    }

    /// Creates a rate-limit problem with `Retry-After`.
    pub(super) fn throttled(throttled: Throttled) -> Self {
        Self::new(THROTTLED, throttled.to_string()).retry_after(throttled.retry_after_secs())
    }

    /// Adds a `Retry-After` header.
    pub(super) fn retry_after(self, secs: u64) -> Self {
        Self { header: Some(("retry-after", secs.to_string().into())), ..self }
    }

    /// Returns the additional response header.
    pub(super) fn header(&self) -> Option<(&'static str, &str)> {
        self.header.as_ref().map(|(name, value)| (*name, value.as_ref()))
    }

    /// Converts an error inside a flow. A flow calls patterns with its own authority, so the caller must not see the
    /// item of a refusal.
    pub(super) fn of_flow(error: RunError, model: &Model) -> Self {
        Self { item: None, ..Self::of(error, model) }.without_key()
    }

    /// Removes the key of a broken item, for calls that also read items which the caller may not read.
    pub(super) fn without_key(mut self) -> Self {
        self.broken.iter_mut().for_each(|broken| drop(broken.remove("key")));
        self
    }

    /// Converts a runner's error. The runner has removed items that the caller may not read; this removes secret
    /// fields.
    pub(super) fn of(error: RunError, model: &Model) -> Self {
        let detail = error.to_string();
        let item = |found: &Option<Box<Found>>| found.as_ref().map(|found| Box::new(json::found(model, found)));
        match &error {
            RunError::UnknownPattern(_) => Self::new(UNKNOWN_PATH, detail),
            RunError::NotRunnable(_) => Self::new(NOT_RUNNABLE, detail),
            RunError::Arguments(_) => Self::new(ARGUMENTS, detail),
            RunError::NotFound(_) => Self::new(NOT_FOUND, detail),
            RunError::Forbidden => Self::new(FORBIDDEN, detail),
            RunError::Refused { outcome, item: found } => {
                Self { outcome: Some(outcome.clone()), item: item(found), ..Self::new(REFUSED, detail) }
            }
            RunError::Conflict(found) => {
                Self { outcome: Some("Conflict".to_owned()), item: item(found), ..Self::new(CONFLICT, detail) }
            }
            RunError::Busy => Self::new(BUSY, detail).retry_after(1),
            RunError::Cursor => Self::new(CURSOR, detail),
            RunError::KeyReused => Self::new(KEY_REUSED, detail),
            // The store's message may contain internal names and values: log it, do not send it.
            RunError::Store(failed) if failed.code() == ErrorCode::ResourceNotFound => {
                tracing::error!(model = model.name, "a table or an index is missing: {}", failed.message());
                Self::new(NOT_RUNNABLE, "a table or an index of the model does not exist in the store")
            }
            // The store has already logged the cause.
            RunError::Store(failed) if *failed.detail() == Detail::RefusedForNow => {
                tracing::debug!(model = model.name, "{}", failed.message());
                Self::new(STORE, "the store accepts no writes at the moment")
            }
            // Only reads and rejected writes get here; a write that may have been applied is `Unknown`.
            RunError::Store(failed) if *failed.detail() == Detail::NoAnswer => {
                tracing::error!(model = model.name, "{}", failed.message());
                Self::new(UNAVAILABLE, "the store did not answer in time, and nothing was applied: try again")
                    .retry_after(2)
            }
            RunError::Store(failed) => {
                tracing::error!(model = model.name, code = failed.code().name(), "{}", failed.message());
                let code = failed.code().name();
                Self::new(
                    if failed.code().status() >= 500 { STORE } else { INTERNAL },
                    format!("the store answered {code}"),
                )
            }
            RunError::NotChecked => Self::new(INTERNAL, detail),
            // The findings name key templates: the operator finds them in the log.
            RunError::NotAccepted(why) => {
                tracing::debug!(model = model.name, "{why}");
                let detail = match why.reason {
                    Reason::Superseded => {
                        "the store has accepted a newer version of this model that is not compatible with the one of \
                        this instance, which no longer serves it"
                    }
                    Reason::Breaking(_) | Reason::Unfinished(_) | Reason::Unreadable(_) => {
                        "the store has items of another version of this model, which this one would not find"
                    }
                };
                Self::new(NOT_ACCEPTED, detail)
            }
            // The reason may contain internal names: log it, do not send it.
            RunError::Unknown(why) => {
                tracing::error!(model = model.name, "{why}");
                Self::new(UNKNOWN, "the store did not confirm whether the write was applied: check before you retry")
            }
            RunError::Broken(broken) => {
                let members = members(broken);
                let key = members.get("key").map(ToString::to_string);
                tracing::error!(model = model.name, table = broken.table, key, "{detail}");
                Self { broken: Some(Box::new(members)), ..Self::new(BROKEN_ITEM, detail) }
            }
            // Only the operator needs to know which key is missing.
            RunError::Sealing(failed) => {
                tracing::error!(model = model.name, "{failed}");
                Self::new(INTERNAL, "an encrypted field cannot be encrypted or decrypted")
            }
        }
    }

    pub(super) fn with_header(self, name: &'static str, value: &'static str) -> Self {
        Self { header: Some((name, Cow::Borrowed(value))), ..self }
    }

    /// Returns the name for metrics: the model's outcome name for a refusal, otherwise the type.
    pub(super) fn name(&self) -> &str {
        self.outcome.as_deref().unwrap_or(self.sort.0)
    }

    pub(super) fn is(&self, sort: Sort) -> bool {
        self.sort.0 == sort.0
    }

    pub(super) fn body(&self) -> Vec<u8> {
        let (kind, status, title) = *self.sort;
        let mut body = Map::new();
        body.insert("type".to_owned(), format!("urn:keyform:problem:{kind}").into());
        body.insert("title".to_owned(), title.into());
        body.insert("status".to_owned(), status.into());
        body.insert("detail".to_owned(), self.detail.as_str().into());
        if let Some(outcome) = &self.outcome {
            body.insert("outcome".to_owned(), outcome.as_str().into());
        }
        if let Some(item) = &self.item {
            body.insert("item".to_owned(), Value::clone(item));
        }
        body.extend(self.broken.iter().flat_map(|broken| (**broken).clone()));
        Value::Object(body).to_string().into_bytes()
    }
}

/// Returns the members of a problem that name a broken item.
fn members(broken: &BrokenItem) -> Map<String, Value> {
    let key = broken.key.iter().map(|(name, value)| (name.clone(), json::to_json(value))).collect();
    let table = ("table".to_owned(), broken.table.as_str().into());
    let field = ("field".to_owned(), broken.field.as_str().into());
    Map::from_iter([table, ("key".to_owned(), Value::Object(key)), field])
}
