//! Requests that webhooks received, kept for 30 days. A long body is cut in the item and kept whole in the object store.

use keyform::server::FlowError;

use crate::Helpmaton;
use crate::model::{AgentKeyId, LogWebhookInput, UserId, WebhookLog, WebhookLogRequestId};

/// The characters of a body that the item keeps.
const BODY_CHARS_MAX: usize = 20_000;

/// A request that was received.
#[derive(Clone, Debug)]
pub struct Received {
    /// The request's id. The same again logs nothing again.
    pub request_id: WebhookLogRequestId,
    /// Whose agent it was for.
    pub user_id: UserId,
    /// The key it proved itself with.
    pub key_id: AgentKeyId,
    /// Its body.
    pub body: String,
}

/// Where a long body is.
fn object_key(request_id: &WebhookLogRequestId) -> String {
    format!("webhook-logs/{request_id}")
}

/// The first characters of a body, if it has more than fit.
fn cut(body: &str) -> Option<&str> {
    body.char_indices().nth(BODY_CHARS_MAX).map(|(end, _)| &body[..end])
}

/// Logs a request.
///
/// # Errors
/// The store or the object store fails. Doing it again is safe.
pub async fn log(helpmaton: &Helpmaton, received: Received) -> Result<WebhookLog, FlowError> {
    let Received { request_id, user_id, key_id, body } = received;
    let (kept, object) = match cut(&body) {
        None => (body, None),
        Some(first) => {
            let key = object_key(&request_id);
            helpmaton.settings().objects.put(&key, body.as_bytes().to_vec()).await?;
            (first.to_owned(), Some(key))
        }
    };
    let input = LogWebhookInput {
        request_id: Some(request_id.clone()),
        body_s3_key: object,
        ..LogWebhookInput::new(user_id, key_id, kept)
    };
    if let Some(logged) = helpmaton.model.log_webhook(input).await? {
        return Ok(logged);
    }
    let found = helpmaton.model.webhook_log(&request_id).await?;
    found.ok_or(keyform::CallError::Gone.into())
}

/// The whole body of a request that was logged; nothing if it is not known, or no longer.
///
/// # Errors
/// The store or the object store fails.
pub async fn body(helpmaton: &Helpmaton, request_id: &WebhookLogRequestId) -> Result<Option<String>, FlowError> {
    let Some(logged) = helpmaton.model.webhook_log(request_id).await? else { return Ok(None) };
    let Some(key) = &logged.body_s3_key else { return Ok(Some(logged.body)) };
    let whole = helpmaton.settings().objects.get(key).await?;
    Ok(Some(whole.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or(logged.body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_cut_between_characters() {
        assert_eq!(cut(&"é".repeat(BODY_CHARS_MAX)), None);
        let long = "é".repeat(BODY_CHARS_MAX + 1);
        assert_eq!(cut(&long).map(|first| first.chars().count()), Some(BODY_CHARS_MAX));
    }
}
