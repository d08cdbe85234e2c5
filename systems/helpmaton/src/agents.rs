//! Agents: settings, delegation and removal.
//!
//! The delegation graph never has a cycle, even under concurrent changes: a change names the version of the workspace's
//! graph it was decided on, and is decided again if that version is outdated. An agent can be removed when no other
//! agent delegates to it; its own items are removed with it.

use std::collections::{BTreeMap, BTreeSet};

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use keyform::runtime::run::{Caller, RunError};
use keyform::{CallError, Decimal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    self, Agent, AgentClientToolsItem, AgentId, AgentProvider, AllowDelegationError, ChangeAgentInput,
    CreateAgentError, CreateAgentInput, DeleteAgentError, DeleteAgentKeyError, DeleteStreamServerError, WorkspaceId,
};
use crate::{Helpmaton, conversations, usage};

/// Default model of an agent.
pub const DEFAULT_MODEL: &str = "gemini-2.5-flash";
/// Attempts of a graph change against concurrent changes.
const TRIES_MAX: usize = 20;
/// Maximum number of agents per read.
const AGENTS_PER_READ: usize = 100;

/// Returns the name of the model that an agent calls.
#[must_use]
pub fn model_name(agent: &Agent) -> &str {
    agent.model_name.as_deref().unwrap_or(DEFAULT_MODEL)
}

/// Settings of an agent.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentSettings {
    /// Name of the agent.
    pub name: String,
    /// System prompt of the model.
    pub system_prompt: String,
    /// Sampling temperature, 0 to 2.
    #[schemars(with = "Option<f64>")]
    pub temperature: Option<Decimal>,
    /// Nucleus sampling, 0 to 1.
    #[schemars(with = "Option<f64>")]
    pub top_p: Option<Decimal>,
    /// Number of candidate tokens, 1 to 1000.
    pub top_k: Option<i64>,
    /// Maximum tokens of an answer.
    pub max_output_tokens: Option<i64>,
    /// Strings that end an answer.
    pub stop_sequences: Option<Vec<String>>,
    /// Maximum tool calls for one answer; 5 by default.
    pub max_tool_roundtrips: Option<i64>,
    /// Model provider; Google by default.
    #[schemars(with = "Option<String>")]
    pub provider: Option<AgentProvider>,
    /// Name of the model.
    pub model_name: Option<String>,
    /// Tools that run in the client.
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    pub client_tools: Option<Vec<AgentClientToolsItem>>,
}

impl AgentSettings {
    /// Checks the constraints that the model's types cannot express.
    fn check(&self) -> Result<(), FlowError> {
        within("temperature", self.temperature, 2)?;
        within("topP", self.top_p, 1)?;
        let mut names = BTreeSet::new();
        for tool in self.client_tools.iter().flatten() {
            check_tool_name(&tool.name)?;
            if !names.insert(&tool.name) {
                return Err(FlowError::Arguments(format!("two tools have the name `{}`", tool.name)));
            }
        }
        Ok(())
    }
}

fn within(what: &str, number: Option<Decimal>, most: i64) -> Result<(), FlowError> {
    match number {
        Some(number) if number < Decimal::from(0) || number > Decimal::from(most) => {
            Err(FlowError::Arguments(format!("`{what}` must be from 0 to {most}")))
        }
        _ => Ok(()),
    }
}

/// Checks that a tool name is a JavaScript identifier, because programs call tools by name.
fn check_tool_name(name: &str) -> Result<(), FlowError> {
    let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_' || letter == '$';
    let mut letters = name.chars();
    if letters.next().is_some_and(is_first) && letters.all(|letter| is_first(letter) || letter.is_ascii_digit()) {
        return Ok(());
    }
    Err(FlowError::Arguments(format!(
        "`{name}` is not a valid tool name: use letters, digits, `_` and `$`, and start \
        without a digit"
    )))
}

/// Creates an agent. A repeated call with the same id returns the existing agent.
///
/// # Errors
/// The settings are invalid, or an outcome of the model's `createAgent`.
pub async fn create(
    model: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    settings: AgentSettings,
) -> Result<Agent, FlowError> {
    settings.check()?;
    let AgentSettings { name, system_prompt, .. } = &settings;
    let input = CreateAgentInput {
        agent_id: Some(agent_id.clone()),
        temperature: settings.temperature,
        top_p: settings.top_p,
        top_k: settings.top_k,
        max_output_tokens: settings.max_output_tokens,
        stop_sequences: settings.stop_sequences.clone(),
        max_tool_roundtrips: settings.max_tool_roundtrips,
        provider: settings.provider,
        model_name: settings.model_name.clone(),
        client_tools: settings.client_tools.clone(),
        ..CreateAgentInput::new(workspace_id.clone(), name.clone(), system_prompt.clone())
    };
    match model.create_agent(input).await {
        Err(CreateAgentError::AgentExists) => existing(model, workspace_id, agent_id).await,
        created => Ok(created?),
    }
}

/// Replaces the settings of an agent: omitted settings are removed or reset to their default.
///
/// # Errors
/// The settings are invalid, or the agent has changed since the expected version.
pub async fn change(
    model: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    settings: AgentSettings,
    expected_version: i64,
) -> Result<Agent, FlowError> {
    settings.check()?;
    let input = ChangeAgentInput {
        workspace_id: workspace_id.clone(),
        agent_id: agent_id.clone(),
        name: settings.name,
        system_prompt: settings.system_prompt,
        temperature: settings.temperature,
        top_p: settings.top_p,
        top_k: settings.top_k,
        max_output_tokens: settings.max_output_tokens,
        stop_sequences: settings.stop_sequences,
        max_tool_roundtrips: settings.max_tool_roundtrips.unwrap_or(5),
        provider: settings.provider.unwrap_or(AgentProvider::Google),
        model_name: settings.model_name,
        client_tools: settings.client_tools,
        expected_version,
    };
    Ok(model.change_agent(input).await?)
}

async fn existing(
    model: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
) -> Result<Agent, FlowError> {
    let agent = model.agent_by_id(workspace_id, agent_id).await?;
    agent.ok_or_else(|| FlowError::refused("UnknownAgent", "unknown agent"))
}

/// Allows an agent to delegate to another one, unless that creates a cycle.
///
/// # Errors
/// Refused with `DelegationCircle`, or an outcome of the model's `allowDelegation`.
pub async fn allow_delegation(
    model: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    target_id: &AgentId,
) -> Result<(), FlowError> {
    for _ in 0..TRIES_MAX {
        let workspace = model.workspace_by_id(workspace_id).await?;
        let workspace = workspace.ok_or_else(|| FlowError::refused("UnknownWorkspace", "unknown workspace"))?;
        if leads_to(model, workspace_id, target_id, agent_id).await? {
            return Err(FlowError::refused(
                "DelegationCircle",
                "the other agent delegates to this one, directly or \
                through others",
            ));
        }
        let version = workspace.delegation_version;
        match model.allow_delegation(workspace_id, agent_id, target_id, version).await {
            Err(AllowDelegationError::DelegationChanged) => {}
            allowed => {
                allowed?;
                return Ok(());
            }
        }
    }
    Err(FlowError::Failed(RunError::Busy))
}

/// Returns whether an agent delegates to another one, directly or indirectly.
async fn leads_to(
    model: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    from: &AgentId,
    to: &AgentId,
) -> Result<bool, CallError> {
    let (mut seen, mut next) = (BTreeSet::new(), BTreeSet::from([from.clone()]));
    while !next.is_empty() {
        if next.contains(to) {
            return Ok(true);
        }
        seen.extend(next.iter().cloned());
        let ids: Vec<AgentId> = std::mem::take(&mut next).into_iter().collect();
        for some in ids.chunks(AGENTS_PER_READ) {
            let agents = model.agents_by_ids(workspace_id, some).await?;
            let targets = agents.iter().flat_map(targets);
            next.extend(targets.filter(|target| !seen.contains(target)));
        }
    }
    Ok(false)
}

/// Returns the agents that an agent may delegate to.
pub(crate) fn targets(agent: &Agent) -> Vec<AgentId> {
    agent.delegatable_agent_ids.iter().flatten().cloned().map(AgentId::from).collect()
}

/// Returns a cycle in a delegation graph, if there is one, for tests and for checking old data.
#[must_use]
pub fn circle(agents: &[Agent]) -> Option<Vec<AgentId>> {
    let graph: BTreeMap<AgentId, Vec<AgentId>> =
        agents.iter().map(|agent| (agent.agent_id.clone(), targets(agent))).collect();
    let mut finished = BTreeSet::new();
    graph.keys().find_map(|from| follow(&graph, from, &mut Vec::new(), &mut finished))
}

fn follow(
    graph: &BTreeMap<AgentId, Vec<AgentId>>,
    at: &AgentId,
    path: &mut Vec<AgentId>,
    finished: &mut BTreeSet<AgentId>,
) -> Option<Vec<AgentId>> {
    if let Some(start) = path.iter().position(|before| before == at) {
        return Some(path[start..].to_vec());
    }
    if finished.contains(at) {
        return None;
    }
    path.push(at.clone());
    let found = graph.get(at).into_iter().flatten().find_map(|next| follow(graph, next, path, finished));
    path.pop();
    finished.insert(at.clone());
    found
}

/// Removes an agent with its links, keys, streaming server, conversations and daily spending. Can be interrupted and
/// repeated at any point. `by` is the caller's handle.
///
/// # Errors
/// Refused with `DelegatedTo` while another agent delegates to it, or with `UnknownAgent`.
pub async fn remove(
    helpmaton: &Helpmaton,
    by: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
) -> Result<(), FlowError> {
    let agent = existing(by, workspace_id, agent_id).await?;
    if agent.delegators > 0 {
        return Err(DeleteAgentError::DelegatedTo.into());
    }
    remove_links(by, &agent).await?;
    remove_keys(by, &agent).await?;
    remove_belongings(helpmaton, by, &agent).await?;
    by.delete_agent(workspace_id, agent_id).await?;
    // Remove what concurrent calls have left.
    conversations::remove_of_agent(helpmaton, workspace_id, agent_id).await?;
    usage::forget_agent_spending(helpmaton, workspace_id, agent_id).await?;
    Ok(())
}

/// Removes the items that belong only to this agent: streaming server, conversations and daily spending.
async fn remove_belongings(helpmaton: &Helpmaton, by: &model::Helpmaton, agent: &Agent) -> Result<(), FlowError> {
    match by.delete_stream_server(&agent.workspace_id, &agent.agent_id).await {
        Ok(()) | Err(DeleteStreamServerError::NoStream) => {}
        Err(error) => return Err(error.into()),
    }
    conversations::remove_of_agent(helpmaton, &agent.workspace_id, &agent.agent_id).await?;
    usage::forget_agent_spending(helpmaton, &agent.workspace_id, &agent.agent_id).await?;
    Ok(())
}

/// Removes the links from an agent to other items.
pub(crate) async fn remove_links(by: &model::Helpmaton, agent: &Agent) -> Result<(), FlowError> {
    let (workspace_id, agent_id) = (&agent.workspace_id, &agent.agent_id);
    for target in targets(agent) {
        by.revoke_delegation(workspace_id, agent_id, &target).await?;
    }
    for server in agent.enabled_mcp_server_ids.iter().flatten() {
        by.disable_mcp_server(workspace_id, agent_id, &server.clone().into()).await?;
    }
    if let Some(channel) = &agent.notification_channel_id {
        by.clear_notification_channel(workspace_id, agent_id, channel).await?;
    }
    Ok(())
}

async fn remove_keys(by: &model::Helpmaton, agent: &Agent) -> Result<(), FlowError> {
    let keys = by.keys_for_agent(&agent.workspace_id, &agent.agent_id).all().await?;
    for key in keys {
        match by.delete_agent_key(&agent.workspace_id, &agent.agent_id, &key.key_id).await {
            Ok(()) | Err(DeleteAgentKeyError::UnknownKey) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// An agent to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CreateArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Settings of the agent.
    settings: AgentSettings,
}

/// New settings of an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChangeArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Id of the agent.
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// New settings; replace all current ones.
    settings: AgentSettings,
    /// Version that the editor saw.
    expected_version: i64,
}

/// A delegation between two agents.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DelegationArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Id of the delegating agent.
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// Id of the agent that receives work.
    #[schemars(with = "String")]
    target_id: AgentId,
}

/// Identifies an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AgentArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Id of the agent.
    #[schemars(with = "String")]
    agent_id: AgentId,
}

/// Current state of an agent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentAnswer {
    /// Id of the agent.
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// Version to pass to the next change.
    version: i64,
}

impl From<Agent> for AgentAnswer {
    fn from(agent: Agent) -> Self {
        Self { agent_id: agent.agent_id, version: agent.version }
    }
}

/// Empty result.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Done {}

fn as_caller(helpmaton: &Helpmaton, caller: &Caller) -> Result<model::Helpmaton, FlowError> {
    Ok(helpmaton.as_caller(caller)?.1)
}

async fn create_flow(helpmaton: Helpmaton, call: FlowCall<CreateArguments>) -> Result<AgentAnswer, FlowError> {
    let model = as_caller(&helpmaton, &call.caller)?;
    let id = helpmaton.id_for(call.token.as_deref(), "agent");
    Ok(create(&model, &call.arguments.workspace_id, &id, call.arguments.settings).await?.into())
}

async fn change_flow(helpmaton: Helpmaton, call: FlowCall<ChangeArguments>) -> Result<AgentAnswer, FlowError> {
    let model = as_caller(&helpmaton, &call.caller)?;
    let ChangeArguments { workspace_id, agent_id, settings, expected_version } = call.arguments;
    Ok(change(&model, &workspace_id, &agent_id, settings, expected_version).await?.into())
}

async fn delegate_flow(helpmaton: Helpmaton, call: FlowCall<DelegationArguments>) -> Result<Done, FlowError> {
    let model = as_caller(&helpmaton, &call.caller)?;
    let DelegationArguments { workspace_id, agent_id, target_id } = call.arguments;
    allow_delegation(&model, &workspace_id, &agent_id, &target_id).await.map(|()| Done {})
}

async fn remove_flow(helpmaton: Helpmaton, call: FlowCall<AgentArguments>) -> Result<Done, FlowError> {
    let model = as_caller(&helpmaton, &call.caller)?;
    let AgentArguments { workspace_id, agent_id } = call.arguments;
    crate::access::writer(&helpmaton, &call.caller, &workspace_id).await?;
    remove(&helpmaton, &model, &workspace_id, &agent_id).await.map(|()| Done {})
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    const CREATE: &[&str] = &["UnknownWorkspace", "WorkspaceGone", "AgentLimitReached"];
    const DELEGATE: &[&str] = &["DelegationCircle", "DelegatesToItself", "UnknownAgent", "UnknownWorkspace"];
    application
        .flow(helpmaton.flow("addAgent", "Creates an agent.", create_flow).outcomes(CREATE))
        .flow(helpmaton.flow("editAgent", "Replaces an agent.", change_flow))
        .flow(
            helpmaton.flow("delegate", "Allows an agent to delegate to another one.", delegate_flow).outcomes(DELEGATE),
        )
        .flow(
            helpmaton
                .flow("removeAgent", "Deletes an agent with everything that belongs to it.", remove_flow)
                .outcomes(&["UnknownAgent", "DelegatedTo"]),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_named_as_a_program_names_a_function() {
        for name in ["a", "_a1", "$x", "readFile"] {
            assert!(check_tool_name(name).is_ok(), "{name}");
        }
        for name in ["", "1a", "a-b", "a b", "é", "a.b"] {
            assert!(check_tool_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn numbers_are_within_their_range() {
        let number = |text: &str| Some(text.parse::<Decimal>().expect("a number"));
        assert!(within("temperature", number("2"), 2).is_ok());
        assert!(within("temperature", number("2.01"), 2).is_err());
        assert!(within("topP", number("-0.1"), 1).is_err());
    }
}
