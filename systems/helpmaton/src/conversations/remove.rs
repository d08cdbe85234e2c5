//! Removes conversations with their messages. Each removal can be interrupted and repeated at any point.

use keyform::flow::FlowError;
use keyform::{CallError, Ulid};

use crate::Helpmaton;
use crate::model::{AgentId, ConversationId, PurgeMessagesError, WorkspaceId};

/// Maximum deletes per request.
const BATCH_MAX: usize = 25;

/// Removes a conversation. The caller has checked the permission.
///
/// # Errors
/// Refused with `UnknownConversation`, or the store fails.
pub async fn remove(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    conversation_id: &ConversationId,
) -> Result<(), FlowError> {
    // Delete the messages first: while the conversation exists, an interrupted removal can be repeated.
    purge_messages(helpmaton, workspace_id, conversation_id).await?;
    let deleted = helpmaton.model.delete_conversation(workspace_id, agent_id, conversation_id).await;
    // Delete messages that were appended in between; none can be appended after the conversation is gone.
    purge_messages(helpmaton, workspace_id, conversation_id).await?;
    Ok(deleted?)
}

/// Removes all conversations of an agent.
///
/// # Errors
/// The store fails.
pub async fn remove_of_agent(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
) -> Result<(), FlowError> {
    let conversations = helpmaton.model.conversations_for_agent(workspace_id, agent_id).all().await?;
    for conversation in conversations {
        let id = &conversation.conversation_id;
        match remove(helpmaton, workspace_id, agent_id, id).await {
            // A concurrent call was faster.
            Err(FlowError::Refused { outcome, .. }) if outcome == "UnknownConversation" => {}
            removed => removed?,
        }
    }
    Ok(())
}

async fn purge_messages(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    conversation_id: &ConversationId,
) -> Result<(), CallError> {
    let messages = helpmaton.model.conversation_messages(workspace_id, conversation_id).all().await?;
    let ids: Vec<Ulid> = messages.into_iter().map(|message| message.message_id.into()).collect();
    for some in ids.chunks(BATCH_MAX) {
        match helpmaton.model.purge_messages(workspace_id, conversation_id, some).await {
            Ok(()) | Err(PurgeMessagesError::Conflict(_)) => {}
            Err(PurgeMessagesError::Failed(error)) => return Err(error),
        }
    }
    Ok(())
}
