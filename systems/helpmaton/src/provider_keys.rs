//! Keys of model providers that workspaces supply themselves.
//!
//! There is one per provider, encrypted, and only the code that calls the provider reads it. Items of an older form,
//! with a single key per workspace, are read as Google's and converted at the next write by the model's `evolve`.

use keyform::CallError;
use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Helpmaton;
use crate::model::{self, AgentProvider, DeleteWorkspaceApiKeyError, WorkspaceApiKeyProvider, WorkspaceId};

/// All providers.
pub const PROVIDERS: [WorkspaceApiKeyProvider; 3] =
    [WorkspaceApiKeyProvider::Google, WorkspaceApiKeyProvider::Openai, WorkspaceApiKeyProvider::Anthropic];

/// Returns the provider whose key an agent's calls need.
#[must_use]
pub fn provider_of(provider: AgentProvider) -> WorkspaceApiKeyProvider {
    match provider {
        AgentProvider::Google => WorkspaceApiKeyProvider::Google,
        AgentProvider::Openai => WorkspaceApiKeyProvider::Openai,
        AgentProvider::Anthropic => WorkspaceApiKeyProvider::Anthropic,
    }
}

/// Returns the name of a provider in conversations and usage.
#[must_use]
pub fn name_of(provider: WorkspaceApiKeyProvider) -> &'static str {
    match provider {
        WorkspaceApiKeyProvider::Google => "google",
        WorkspaceApiKeyProvider::Openai => "openai",
        WorkspaceApiKeyProvider::Anthropic => "anthropic",
    }
}

/// Returns whether a workspace has its own key for a provider.
///
/// # Errors
/// The read fails.
pub async fn has_key(
    model: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    provider: WorkspaceApiKeyProvider,
) -> Result<bool, CallError> {
    Ok(model.workspace_api_key(workspace_id, provider).await?.is_some())
}

/// Sets a key, or removes it if the text is empty. `by` is the caller's handle.
///
/// # Errors
/// Refused with `WorkspaceGone`; or the caller lacks permission.
pub async fn set(
    by: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    provider: WorkspaceApiKeyProvider,
    key: &str,
) -> Result<(), FlowError> {
    match key.trim() {
        "" => match by.delete_workspace_api_key(workspace_id, provider).await {
            Ok(()) | Err(DeleteWorkspaceApiKeyError::NoKey) => Ok(()),
            Err(error) => Err(error.into()),
        },
        key => {
            by.set_workspace_api_key(workspace_id, provider, key).await?;
            Ok(())
        }
    }
}

/// A provider key to set or remove.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KeyArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Provider: `google`, `openai` or `anthropic`.
    #[schemars(with = "String")]
    provider: WorkspaceApiKeyProvider,
    /// The key; an empty string removes it.
    key: String,
}

/// State of a provider key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct KeyAnswer {
    /// True if the workspace has a key.
    has_key: bool,
}

async fn set_flow(helpmaton: Helpmaton, call: FlowCall<KeyArguments>) -> Result<KeyAnswer, FlowError> {
    let (_, by) = helpmaton.as_caller(&call.caller)?;
    let KeyArguments { workspace_id, provider, key } = call.arguments;
    set(&by, &workspace_id, provider, &key).await?;
    Ok(KeyAnswer { has_key: !key.trim().is_empty() })
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let set = helpmaton.flow("setProviderKey", "Sets or removes the key of a provider.", set_flow);
    application.flow(set.outcomes(&["WorkspaceGone"]))
}
