//! Reads a whole conversation.

use keyform::CallError;
use serde_json::Value;

use crate::model::{self, AgentId, Conversation, ConversationId, WorkspaceId};

/// A conversation with all of its messages, in order.
#[derive(Clone, Debug)]
pub struct Whole {
    /// The conversation. Its own `messages` are the first ones.
    pub conversation: Conversation,
    /// All messages.
    pub messages: Vec<Value>,
}

/// Reads a conversation with all of its messages; nothing if it is not there. `model` is the patterns as the caller may call them.
///
/// # Errors
/// [`CallError`]
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
