//! Flows of conversations.

use keyform::Money;
use keyform::application::Application;
use keyform::server::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Said, Start};
use crate::agents::{self, Done};
use crate::model::{Agent, AgentId, Conversation, ConversationConversationType, ConversationId, WorkspaceId};
use crate::prices::{Cost, Tokens};
use crate::{Helpmaton, access, provider_keys};

/// A conversation that begins.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StartArguments {
    /// The workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// The agent.
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// A UUID for it, if the caller wants to name it.
    #[schemars(with = "Option<String>")]
    conversation_id: Option<ConversationId>,
    /// `test`, `webhook` or `stream`.
    #[schemars(with = "String")]
    conversation_type: ConversationConversationType,
    /// The first messages.
    #[serde(default)]
    messages: Vec<Value>,
    /// Their tokens.
    #[serde(default)]
    tokens: Tokens,
}

/// A message.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SayArguments {
    /// The workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// The agent.
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// The conversation.
    #[schemars(with = "String")]
    conversation_id: ConversationId,
    /// The message. One whose `id` is in the conversation changes nothing.
    message: Value,
    /// Its tokens.
    #[serde(default)]
    tokens: Tokens,
}

/// A conversation by its id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ConversationArguments {
    /// The workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// The agent.
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// The conversation.
    #[schemars(with = "String")]
    conversation_id: ConversationId,
}

/// A whole conversation.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ConversationAnswer {
    /// Its id.
    #[schemars(with = "String")]
    conversation_id: ConversationId,
    /// All messages, in order.
    messages: Vec<Value>,
    /// All tokens.
    total_tokens: i64,
    /// Their cost, in nano-units.
    cost: Cost,
}

impl ConversationAnswer {
    fn new(conversation: Conversation, messages: Vec<Value>) -> Self {
        Self {
            messages,
            total_tokens: conversation.token_usage.total_tokens,
            cost: Cost { usd: conversation.cost_usd, eur: conversation.cost_eur, gbp: conversation.cost_gbp },
            conversation_id: conversation.conversation_id,
        }
    }
}

/// Returns the current cost of an agent's tokens; zero if its model has no price.
fn cost(helpmaton: &Helpmaton, agent: &Agent, tokens: Tokens) -> Cost {
    let prices = &helpmaton.settings().prices;
    let none = Cost { usd: Money::ZERO, eur: Money::ZERO, gbp: Money::ZERO };
    prices.cost(agents::model_name(agent), tokens, helpmaton.now().date()).unwrap_or(none)
}

async fn agent_of(helpmaton: &Helpmaton, workspace: &WorkspaceId, agent: &AgentId) -> Result<Agent, FlowError> {
    let found = helpmaton.model.agent_by_id(workspace, agent).await?;
    found.ok_or_else(|| FlowError::refused("UnknownAgent", "there is no such agent"))
}

async fn start(helpmaton: Helpmaton, call: FlowCall<StartArguments>) -> Result<ConversationAnswer, FlowError> {
    let arguments = call.arguments;
    access::writer(&helpmaton, &call.caller, &arguments.workspace_id).await?;
    let agent = agent_of(&helpmaton, &arguments.workspace_id, &arguments.agent_id).await?;
    let id = arguments.conversation_id.unwrap_or_else(|| helpmaton.id_for(call.token.as_deref(), "conversation"));
    let provider = provider_keys::provider_of(agent.provider);
    let uses_byok = provider_keys::has_key(&helpmaton.model, &arguments.workspace_id, provider).await?;
    let begun = Start {
        messages: arguments.messages,
        model_name: Some(agents::model_name(&agent).to_owned()),
        provider: Some(provider_keys::name_of(provider).to_owned()),
        uses_byok,
        tokens: arguments.tokens,
        cost: cost(&helpmaton, &agent, arguments.tokens),
        ..Start::new(arguments.workspace_id, arguments.agent_id, id, arguments.conversation_type)
    };
    let conversation = super::start(&helpmaton, begun).await?;
    let messages = conversation.messages.clone();
    Ok(ConversationAnswer::new(conversation, messages))
}

async fn say(helpmaton: Helpmaton, call: FlowCall<SayArguments>) -> Result<Done, FlowError> {
    let SayArguments { workspace_id, agent_id, conversation_id, message, tokens } = call.arguments;
    access::writer(&helpmaton, &call.caller, &workspace_id).await?;
    let agent = agent_of(&helpmaton, &workspace_id, &agent_id).await?;
    let message = match &call.token {
        Some(token) => super::append::with_id(message, token),
        None => message,
    };
    let said = Said { message, tokens, cost: cost(&helpmaton, &agent, tokens) };
    super::append(&helpmaton, &workspace_id, &agent_id, &conversation_id, said).await.map(|()| Done {})
}

async fn read(helpmaton: Helpmaton, call: FlowCall<ConversationArguments>) -> Result<ConversationAnswer, FlowError> {
    let (_, model) = helpmaton.as_caller(&call.caller)?;
    let ConversationArguments { workspace_id, agent_id, conversation_id } = call.arguments;
    let whole = super::whole(&model, &workspace_id, &agent_id, &conversation_id).await?;
    let whole = whole.ok_or_else(|| FlowError::refused("UnknownConversation", "there is no such conversation"))?;
    Ok(ConversationAnswer::new(whole.conversation, whole.messages))
}

async fn remove(helpmaton: Helpmaton, call: FlowCall<ConversationArguments>) -> Result<Done, FlowError> {
    let ConversationArguments { workspace_id, agent_id, conversation_id } = call.arguments;
    access::writer(&helpmaton, &call.caller, &workspace_id).await?;
    super::remove(&helpmaton, &workspace_id, &agent_id, &conversation_id).await.map(|()| Done {})
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    const UNKNOWN: &[&str] = &["UnknownConversation"];
    const START: &[&str] = &["UnknownAgent", "MessageTooLong"];
    const SAY: &[&str] = &["UnknownAgent", "UnknownConversation", "MessageTooLong"];
    application
        .flow(helpmaton.flow("openConversation", "Begins a conversation.", start).outcomes(START))
        .flow(helpmaton.flow("say", "Appends a message to a conversation.", say).outcomes(SAY))
        .flow(helpmaton.flow("wholeConversation", "All messages of a conversation.", read).outcomes(UNKNOWN))
        .flow(helpmaton.flow("removeConversation", "Removes a conversation.", remove).outcomes(UNKNOWN))
}
