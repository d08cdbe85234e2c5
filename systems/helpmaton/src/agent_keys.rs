//! Keys that authenticate the webhooks of an agent.
//!
//! A key is shown once, when it is created. The item contains it encrypted, and a hash that requests are compared with
//! in constant time.

use keyform::CallError;
use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Helpmaton;
use crate::model::{
    AgentId, AgentKeyId, AgentKeyProvider, Caller, CreateAgentKeyError, CreateAgentKeyInput, WorkspaceId,
};
use crate::permissions::Level;
use crate::secrets::{lookup_hash, same};

/// A new key.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewAgentKey {
    /// Id of the key.
    #[schemars(with = "String")]
    pub key_id: AgentKeyId,
    /// The key itself, which is not shown again.
    pub key: String,
}

/// Creates a key for a member who may write. A repeated call with the same id returns the existing key.
///
/// # Errors
/// [`FlowError::Forbidden`] if `by` may not write; refused with `KeyLimitReached`, `UnknownAgent` or
/// `UnknownWorkspace`.
pub async fn create(
    helpmaton: &Helpmaton,
    by: &Caller,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    key_id: &AgentKeyId,
    name: Option<String>,
    provider: Option<AgentKeyProvider>,
) -> Result<NewAgentKey, FlowError> {
    helpmaton.require_level(&by.user_id, workspace_id, Level::Write).await?;
    let key = helpmaton.world().uuid();
    let input = CreateAgentKeyInput {
        key_id: Some(key_id.clone()),
        name,
        provider,
        ..CreateAgentKeyInput::new(
            workspace_id.clone(),
            agent_id.clone(),
            key.clone(),
            lookup_hash(&key),
            by.user_id.clone(),
        )
    };
    match helpmaton.model.create_agent_key(input).await {
        Err(CreateAgentKeyError::Forbidden) => Err(FlowError::Forbidden),
        Err(CreateAgentKeyError::KeyExists) => {
            let found = helpmaton.model.agent_key(workspace_id, agent_id, key_id).await?;
            let found = found.ok_or(CallError::Gone)?;
            Ok(NewAgentKey { key_id: key_id.clone(), key: found.key.expose().clone() })
        }
        created => {
            created?;
            Ok(NewAgentKey { key_id: key_id.clone(), key })
        }
    }
}

/// Returns whether a text is the key with this id.
///
/// # Errors
/// The read fails.
pub async fn verify(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    key_id: &AgentKeyId,
    key: &str,
) -> Result<bool, CallError> {
    let found = helpmaton.model.agent_key(workspace_id, agent_id, key_id).await?;
    Ok(found.is_some_and(|found| same(found.key_hash.expose(), &lookup_hash(key))))
}

/// A key to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Id of the agent.
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// Display name.
    name: Option<String>,
    /// Model provider; Google by default.
    #[schemars(with = "Option<String>")]
    provider: Option<AgentKeyProvider>,
}

async fn create_flow(helpmaton: Helpmaton, call: FlowCall<CreateArguments>) -> Result<NewAgentKey, FlowError> {
    let (by, _) = helpmaton.as_caller(&call.caller)?;
    let CreateArguments { workspace_id, agent_id, name, provider } = call.arguments;
    let key_id = helpmaton.id_for(call.token.as_deref(), "agent key");
    create(&helpmaton, &by, &workspace_id, &agent_id, &key_id, name, provider).await
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let create = helpmaton.flow(
        "issueAgentKey",
        "Creates a key for an agent's webhook. Returns the key only this \
        once.",
        create_flow,
    );
    application.flow(create.outcomes(&["UnknownWorkspace", "UnknownAgent", "KeyLimitReached"]))
}
