//! Appends a message.

use keyform::CallError;
use keyform::flow::FlowError;
use keyform::runtime::run::RunError;
use serde_json::Value;

use super::place::message_id;
use crate::Helpmaton;
use crate::model::{
    AgentId, AppendMessageError, AppendMessageInput, Conversation, ConversationId, SpillMessageError,
    SpillMessageInput, WorkspaceId,
};
use crate::prices::{Cost, Tokens};

/// Maximum number and total bytes of messages in a conversation's own item.
const INLINE_MAX: usize = 40;
const INLINE_BYTES_MAX: i64 = 48_000;
/// Maximum size of a message; with its keys it stays below 400 KB.
const MESSAGE_BYTES_MAX: i64 = 380_000;
/// Attempts against concurrent appends.
const TRIES_MAX: usize = 60;

/// Message to append.
#[derive(Clone, Debug)]
pub struct Said {
    /// Message as a JSON object. Its `id` identifies repeated appends; a message without one gets a generated id.
    pub message: Value,
    /// Token usage.
    pub tokens: Tokens,
    /// Cost of the tokens.
    pub cost: Cost,
}

/// Returns the size of a message in an item.
pub(super) fn bytes_of(message: &Value) -> i64 {
    i64::try_from(message.to_string().len()).unwrap_or(i64::MAX)
}

pub(super) fn count(messages: &[Value]) -> i64 {
    i64::try_from(messages.len()).unwrap_or(i64::MAX)
}

/// Returns how many of these messages fit into an empty conversation's item.
pub(super) fn fitting(messages: &[Value]) -> usize {
    let mut bytes = 0;
    let fits = |message: &&Value| {
        bytes += bytes_of(message);
        bytes <= INLINE_BYTES_MAX
    };
    messages.iter().take(INLINE_MAX).take_while(fits).count()
}

/// Refuses messages that are too long for an item.
pub(super) fn check_lengths(messages: &[Value]) -> Result<(), FlowError> {
    match messages.iter().any(|message| bytes_of(message) > MESSAGE_BYTES_MAX) {
        true => Err(FlowError::refused(
            "MessageTooLong",
            format!("a message can have at most {MESSAGE_BYTES_MAX} bytes: put long content into a document"),
        )),
        false => Ok(()),
    }
}

/// Returns the message with its own id, or with the given one.
pub(super) fn with_id(message: Value, id: &str) -> Value {
    match message {
        Value::Object(mut fields) => {
            fields.entry("id").or_insert_with(|| Value::from(id));
            Value::Object(fields)
        }
        text => serde_json::json!({ "id": id, "content": text }),
    }
}

fn id_of(message: &Value) -> Option<&str> {
    message.get("id")?.as_str()
}

/// Appends a message and adds its tokens and cost. A message whose id is already in the conversation changes nothing.
///
/// # Errors
/// Refused with `UnknownConversation` or `MessageTooLong`, or the store fails.
pub async fn append(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    conversation_id: &ConversationId,
    said: Said,
) -> Result<(), FlowError> {
    let fresh = helpmaton.world().uuid();
    let said = Said { message: with_id(said.message, &fresh), ..said };
    check_lengths(std::slice::from_ref(&said.message))?;
    for _ in 0..TRIES_MAX {
        let found = helpmaton.model.conversation_by_id(workspace_id, agent_id, conversation_id).await?;
        let unknown = || FlowError::refused("UnknownConversation", "unknown conversation");
        let conversation = found.ok_or_else(unknown)?;
        if was_said(helpmaton, &conversation, &said.message).await? {
            return Ok(());
        }
        if said_at(helpmaton, &conversation, &said).await? {
            return Ok(());
        }
    }
    Err(FlowError::Failed(RunError::Busy))
}

/// Returns whether all messages so far are inline, and this one fits too.
fn has_room(conversation: &Conversation, bytes: i64) -> bool {
    let inline = conversation.messages.len();
    count(&conversation.messages) == conversation.message_count
        && inline < INLINE_MAX
        && conversation.inline_bytes + bytes <= INLINE_BYTES_MAX
}

/// Appends at the next position. Returns `false` if a concurrent append was faster.
async fn said_at(helpmaton: &Helpmaton, conversation: &Conversation, said: &Said) -> Result<bool, FlowError> {
    let bytes = bytes_of(&said.message);
    if !has_room(conversation, bytes) {
        return spill(helpmaton, conversation, said).await;
    }
    let (prompt, completion) = (i64::from(said.tokens.prompt_tokens), i64::from(said.tokens.completion_tokens));
    let input = AppendMessageInput {
        workspace_id: conversation.workspace_id.clone(),
        agent_id: conversation.agent_id.clone(),
        conversation_id: conversation.conversation_id.clone(),
        message: said.message.clone(),
        bytes,
        room: INLINE_BYTES_MAX - bytes,
        expected_count: conversation.message_count,
        prompt,
        completion,
        total: prompt + completion,
        usd: said.cost.usd,
        eur: said.cost.eur,
        gbp: said.cost.gbp,
    };
    match helpmaton.model.append_message(input).await {
        Ok(_) => Ok(true),
        // `Unknown` means that the answer was lost; the next read shows whether the message was appended.
        Err(AppendMessageError::Conflict(_) | AppendMessageError::NoRoom) => Ok(false),
        Err(AppendMessageError::Failed(CallError::Unknown(_))) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

async fn spill(helpmaton: &Helpmaton, conversation: &Conversation, said: &Said) -> Result<bool, FlowError> {
    let (prompt, completion) = (i64::from(said.tokens.prompt_tokens), i64::from(said.tokens.completion_tokens));
    let place = u32::try_from(conversation.message_count).unwrap_or(u32::MAX);
    let id = message_id(conversation.started_at, place, id_of(&said.message).unwrap_or_default());
    let input = SpillMessageInput {
        workspace_id: conversation.workspace_id.clone(),
        agent_id: conversation.agent_id.clone(),
        conversation_id: conversation.conversation_id.clone(),
        message_id: Some(id.into()),
        message: said.message.clone(),
        expected_count: conversation.message_count,
        prompt,
        completion,
        total: prompt + completion,
        usd: said.cost.usd,
        eur: said.cost.eur,
        gbp: said.cost.gbp,
    };
    match helpmaton.model.spill_message(input).await {
        Ok(_) => Ok(true),
        Err(SpillMessageError::Conflict(_) | SpillMessageError::Failed(CallError::Unknown(_))) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the message is already in the conversation: inline, or among the last separate items.
async fn was_said(helpmaton: &Helpmaton, conversation: &Conversation, message: &Value) -> Result<bool, FlowError> {
    let is_same = |other: &Value| id_of(other) == id_of(message);
    if conversation.messages.iter().any(is_same) {
        return Ok(true);
    }
    if count(&conversation.messages) == conversation.message_count {
        return Ok(false);
    }
    let latest = helpmaton.model.latest_messages(&conversation.workspace_id, &conversation.conversation_id).await?;
    Ok(latest.items.iter().any(|latest| is_same(&latest.message)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_conversation_has_room_for_so_many_messages_and_bytes() {
        let short = vec![json!("x"); 50];
        assert_eq!(fitting(&short), INLINE_MAX);
        let long = vec![json!("x".repeat(20_000)); 5];
        assert_eq!(fitting(&long), 2);
        assert_eq!(fitting(&[json!("x".repeat(60_000))]), 0);
        assert!(check_lengths(&long).is_ok());
        assert!(check_lengths(&[json!("x".repeat(400_000))]).is_err());
    }

    #[test]
    fn a_message_keeps_its_id_or_gets_one() {
        assert_eq!(with_id(json!({"id": "a", "content": "x"}), "b")["id"], "a");
        assert_eq!(with_id(json!({"content": "x"}), "b")["id"], "b");
        assert_eq!(with_id(json!("x"), "b"), json!({"id": "b", "content": "x"}));
    }
}
