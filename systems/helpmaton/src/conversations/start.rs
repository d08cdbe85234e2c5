//! Begins a conversation.

use keyform::server::FlowError;
use keyform::{CallError, Money};
use serde_json::Value;

use super::append::{self, Said, bytes_of, with_id};
use crate::Helpmaton;
use crate::model::{
    AgentId, Conversation, ConversationConversationType, ConversationId, ConversationTokenUsage,
    StartConversationInput, WorkspaceId,
};
use crate::prices::{Cost, Tokens};

/// A conversation that begins.
#[derive(Clone, Debug)]
pub struct Start {
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The agent.
    pub agent_id: AgentId,
    /// Its id: the same again begins nothing again.
    pub conversation_id: ConversationId,
    /// What it comes from.
    pub conversation_type: ConversationConversationType,
    /// The first messages, of any number and length.
    pub messages: Vec<Value>,
    /// Which model answers.
    pub model_name: Option<String>,
    /// Whose model.
    pub provider: Option<String>,
    /// Whether the workspace pays the provider itself.
    pub uses_byok: bool,
    /// The tokens of the messages.
    pub tokens: Tokens,
    /// What they cost.
    pub cost: Cost,
}

/// Begins a conversation with its first messages. Done again it adds what is missing, and nothing twice.
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
    // Of a repeated request some may be there.
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

/// The most parts that a conversation lists apart, and the longest of them: the messages have them all.
const PARTS_MAX: usize = 40;
const PART_BYTES_MAX: i64 = 1000;

/// The parts of a kind, such as tool calls, in the contents of messages: short copies, for lists.
fn parts(messages: &[Value], kind: &str) -> Vec<Value> {
    let contents = messages.iter().filter_map(|message| message.get("content")?.as_array()).flatten();
    let of_kind = contents.filter(|part| part.get("type").and_then(Value::as_str) == Some(kind));
    of_kind.filter(|part| bytes_of(part) <= PART_BYTES_MAX).take(PARTS_MAX).cloned().collect()
}

impl Start {
    /// A conversation without messages.
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
