//! Webhook requests, kept for 30 days. A long body is truncated in the item and stored completely in the object store.

use keyform::flow::FlowError;

use crate::Helpmaton;
use crate::model::{AgentKeyId, LogWebhookInput, UserId, WebhookLog, WebhookLogRequestId};

/// Maximum characters of a body in the item.
const BODY_CHARS_MAX: usize = 20_000;

/// Received request.
#[derive(Clone, Debug)]
pub struct Received {
    /// Id of the request; a repeated call with the same id logs nothing again.
    pub request_id: WebhookLogRequestId,
    /// Owner of the agent.
    pub user_id: UserId,
    /// Key that authenticated the request.
    pub key_id: AgentKeyId,
    /// Complete body.
    pub body: String,
}

/// Returns the object key of a long body.
fn object_key(request_id: &WebhookLogRequestId) -> String {
    format!("webhook-logs/{request_id}")
}

/// Returns the truncated body, or `None` if it fits.
fn cut(body: &str) -> Option<&str> {
    body.char_indices().nth(BODY_CHARS_MAX).map(|(end, _)| &body[..end])
}

/// Logs a request.
///
/// # Errors
/// The store or the object store fails. Repeating the call is safe.
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

/// Returns the complete body of a logged request; `None` if it is unknown or expired.
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
