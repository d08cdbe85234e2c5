//! Starts a conversation.

use keyform::flow::FlowError;
use keyform::{CallError, Money};
use serde_json::Value;

use super::append::{self, Said, bytes_of, with_id};
use crate::Helpmaton;
use crate::model::{
    AgentId, Conversation, ConversationConversationType, ConversationId, ConversationTokenUsage,
    StartConversationInput, WorkspaceId,
};
use crate::prices::{Cost, Tokens};

/// Parameters of a new conversation.
#[derive(Clone, Debug)]
pub struct Start {
    /// Workspace of the agent.
    pub workspace_id: WorkspaceId,
    /// Agent that answers.
    pub agent_id: AgentId,
    /// Id of the conversation; a repeated call with the same id starts no second one.
    pub conversation_id: ConversationId,
    /// Origin of the conversation.
    pub conversation_type: ConversationConversationType,
    /// First messages, of any number and length.
    pub messages: Vec<Value>,
    /// Name of the model that answers.
    pub model_name: Option<String>,
    /// Provider of the model.
    pub provider: Option<String>,
    /// Set if the workspace pays the provider itself (bring your own key).
    pub uses_byok: bool,
    /// Token usage of the messages.
    pub tokens: Tokens,
    /// Cost of the tokens.
    pub cost: Cost,
}

/// Starts a conversation with its first messages. A repeated call adds missing messages and no duplicates.
///
/// # Errors
/// Refused with `UnknownAgent` or `MessageTooLong`, or the store fails.
pub async fn start(helpmaton: &Helpmaton, start: Start) -> Result<Conversation, FlowError> {
    let place = |(place, message)| with_id(message, &format!("{}/{place}", start.conversation_id));
    let messages: Vec<Value> = start.messages.iter().cloned().enumerate().map(place).collect();
    append::check_lengths(&messages)?;
    let inline = append::fitting(&messages);
    let begun = helpmaton.model.start_conversation(input(&start, &messages[..inline])).await?;
    if begun.is_some() && inline == messages.len() {
        return begun.ok_or(CallError::Gone.into());
    }
    let (workspace_id, agent_id, id) = (&start.workspace_id, &start.agent_id, &start.conversation_id);
    // In a repeated call some messages may already be stored.
    let there = match &begun {
        Some(_) => Vec::new(),
        None => {
            super::whole(&helpmaton.model, workspace_id, agent_id, id).await?.map_or(Vec::new(), |whole| whole.messages)
        }
    };
    for message in messages[inline..].iter().filter(|message| !there.contains(message)) {
        let said = Said { message: message.clone(), tokens: Tokens::default(), cost: Cost::default() };
        append::append(helpmaton, workspace_id, agent_id, id, said).await?;
    }
    let found = helpmaton.model.conversation_by_id(workspace_id, agent_id, id).await?;
    found.ok_or(CallError::Gone.into())
}

fn input(start: &Start, messages: &[Value]) -> StartConversationInput {
    let (prompt, completion) = (i64::from(start.tokens.prompt_tokens), i64::from(start.tokens.completion_tokens));
    let some = |values: Vec<Value>| (!values.is_empty()).then_some(values);
    StartConversationInput {
        conversation_id: Some(start.conversation_id.clone()),
        messages: Some(messages.to_vec()),
        tool_calls: some(parts(messages, "tool-call")),
        tool_results: some(parts(messages, "tool-result")),
        inline_bytes: Some(messages.iter().map(bytes_of).sum()),
        message_count: Some(append::count(messages)),
        token_usage: Some(ConversationTokenUsage {
            prompt_tokens: prompt,
            completion_tokens: completion,
            total_tokens: prompt + completion,
        }),
        model_name: start.model_name.clone(),
        provider: start.provider.clone(),
        uses_byok: Some(start.uses_byok),
        cost_usd: Some(start.cost.usd),
        cost_eur: Some(start.cost.eur),
        cost_gbp: Some(start.cost.gbp),
        ..StartConversationInput::new(start.workspace_id.clone(), start.agent_id.clone(), start.conversation_type)
    }
}

/// Maximum number and size of parts that a conversation lists separately; the messages contain all of them.
const PARTS_MAX: usize = 40;
const PART_BYTES_MAX: i64 = 1000;

/// Returns short copies of the parts of a kind, such as tool calls, for lists.
fn parts(messages: &[Value], kind: &str) -> Vec<Value> {
    let contents = messages.iter().filter_map(|message| message.get("content")?.as_array()).flatten();
    let of_kind = contents.filter(|part| part.get("type").and_then(Value::as_str) == Some(kind));
    of_kind.filter(|part| bytes_of(part) <= PART_BYTES_MAX).take(PARTS_MAX).cloned().collect()
}

impl Start {
    /// Creates the parameters of a conversation without messages.
    #[must_use]
    pub fn new(
        workspace_id: WorkspaceId,
        agent_id: AgentId,
        conversation_id: ConversationId,
        conversation_type: ConversationConversationType,
    ) -> Self {
        Self {
            workspace_id,
            agent_id,
            conversation_id,
            conversation_type,
            messages: Vec::new(),
            model_name: None,
            provider: None,
            uses_byok: false,
            tokens: Tokens::default(),
            cost: Cost { usd: Money::ZERO, eur: Money::ZERO, gbp: Money::ZERO },
        }
    }
}
