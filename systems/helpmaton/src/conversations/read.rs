//! Reads a whole conversation.

use keyform::CallError;
use serde_json::Value;

use crate::model::{self, AgentId, Conversation, ConversationId, WorkspaceId};

/// Conversation with all its messages in order.
#[derive(Clone, Debug)]
pub struct Whole {
    /// Conversation item; its own `messages` are only the inline ones.
    pub conversation: Conversation,
    /// All messages in order.
    pub messages: Vec<Value>,
}

/// Reads a conversation with all its messages; `None` if it does not exist. `model` is the caller's handle.
///
/// # Errors
/// A read fails, or the caller lacks permission.
pub async fn whole(
    model: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    conversation_id: &ConversationId,
) -> Result<Option<Whole>, CallError> {
    let found = model.conversation_by_id(workspace_id, agent_id, conversation_id).await?;
    let Some(conversation) = found else { return Ok(None) };
    let mut messages = conversation.messages.clone();
    if conversation.message_count > super::append::count(&messages) {
        let later = model.conversation_messages(workspace_id, conversation_id).all().await?;
        messages.extend(later.into_iter().map(|later| later.message));
    }
    Ok(Some(Whole { conversation, messages }))
}
