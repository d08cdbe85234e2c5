//! MCP servers of a workspace. Their credentials are checked when they are set, encrypted, and never returned.

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Helpmaton;
use crate::config::{Config, has_host};
use crate::model::{
    Caller, ChangeMcpServerError, ChangeMcpServerInput, CreateMcpServerError, CreateMcpServerInput, McpServer,
    McpServerAuthType, McpServerId, WorkspaceId,
};
use crate::permissions::Level;

/// Checks a configuration.
///
/// # Errors
/// The missing or invalid field.
pub fn check(url: &str, kind: McpServerAuthType, config: &Value) -> Result<(), FlowError> {
    if !has_host(url, "https://") && !has_host(url, "http://") {
        return Err(FlowError::Arguments("`url` must begin with http:// or https:// and name a host".to_owned()));
    }
    let config = Config::of("an MCP server's configuration", config)?;
    match kind {
        McpServerAuthType::None => Ok(()),
        McpServerAuthType::Header => config.text("headerValue").map(drop),
        McpServerAuthType::Basic => {
            config.text("username")?;
            config.text("password").map(drop)
        }
    }
}

/// An MCP server to create.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewMcpServer {
    /// Id of the workspace.
    #[schemars(with = "String")]
    pub workspace_id: WorkspaceId,
    /// Display name.
    pub name: String,
    /// URL of the server.
    pub url: String,
    /// Authentication: `none`, `header` or `basic`.
    #[schemars(with = "String")]
    pub auth_type: McpServerAuthType,
    /// For `header` `headerValue`, for `basic` `username` and `password`.
    #[serde(default = "no_config")]
    pub config: Value,
}

fn no_config() -> Value {
    Value::Object(serde_json::Map::new())
}

/// Creates an MCP server, for a member who may write. A repeated call with the same id returns the existing server.
///
/// # Errors
/// The configuration is invalid; [`FlowError::Forbidden`] if `by` may not write; or refused with `ServerLimitReached`,
/// `WorkspaceGone` or `UnknownWorkspace`.
pub async fn create(
    helpmaton: &Helpmaton,
    by: &Caller,
    server_id: &McpServerId,
    server: NewMcpServer,
) -> Result<McpServer, FlowError> {
    check(&server.url, server.auth_type, &server.config)?;
    helpmaton.require_level(&by.user_id, &server.workspace_id, Level::Write).await?;
    let NewMcpServer { workspace_id, name, url, auth_type, config } = server;
    let input = CreateMcpServerInput {
        server_id: Some(server_id.clone()),
        ..CreateMcpServerInput::new(workspace_id.clone(), name, url, auth_type, config, by.user_id.clone())
    };
    match helpmaton.model.create_mcp_server(input).await {
        Err(CreateMcpServerError::ServerExists) => {
            let found = helpmaton.model.mcp_server_by_id(&workspace_id, server_id).await?;
            found.ok_or_else(|| CreateMcpServerError::ServerExists.into())
        }
        Err(CreateMcpServerError::Forbidden) => Err(FlowError::Forbidden),
        created => Ok(created?),
    }
}

/// Replaces the settings of an MCP server, for a member who may write.
///
/// # Errors
/// The configuration is invalid; [`FlowError::Forbidden`] if `by` may not write; or refused with `Conflict` if there is
/// no such server or it has another version than expected.
pub async fn change(
    helpmaton: &Helpmaton,
    by: &Caller,
    server_id: &McpServerId,
    server: NewMcpServer,
    expected_version: i64,
) -> Result<McpServer, FlowError> {
    check(&server.url, server.auth_type, &server.config)?;
    helpmaton.require_level(&by.user_id, &server.workspace_id, Level::Write).await?;
    let NewMcpServer { workspace_id, name, url, auth_type, config } = server;
    let (server_id, by) = (server_id.clone(), by.user_id.clone());
    let input = ChangeMcpServerInput { workspace_id, server_id, name, url, auth_type, config, expected_version, by };
    match helpmaton.model.change_mcp_server(input).await {
        Err(ChangeMcpServerError::Forbidden) => Err(FlowError::Forbidden),
        changed => Ok(changed?),
    }
}

/// New settings of an MCP server.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChangeArguments {
    /// The server.
    #[schemars(with = "String")]
    server_id: McpServerId,
    /// Version that the change is based on.
    expected_version: i64,
    /// Complete settings.
    server: NewMcpServer,
}

/// An MCP server.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ServerAnswer {
    /// Id of the MCP server.
    #[schemars(with = "String")]
    server_id: McpServerId,
    /// Version to pass to the next change.
    version: i64,
}

async fn create_flow(helpmaton: Helpmaton, call: FlowCall<NewMcpServer>) -> Result<ServerAnswer, FlowError> {
    let (by, _) = helpmaton.as_caller(&call.caller)?;
    let id = helpmaton.id_for(call.token.as_deref(), "MCP server");
    let made = create(&helpmaton, &by, &id, call.arguments).await?;
    Ok(ServerAnswer { server_id: made.server_id, version: made.version })
}

async fn change_flow(helpmaton: Helpmaton, call: FlowCall<ChangeArguments>) -> Result<ServerAnswer, FlowError> {
    let (by, _) = helpmaton.as_caller(&call.caller)?;
    let ChangeArguments { server_id, expected_version, server } = call.arguments;
    let changed = change(&helpmaton, &by, &server_id, server, expected_version).await?;
    Ok(ServerAnswer { server_id: changed.server_id, version: changed.version })
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let create = helpmaton.flow("addMcpServer", "Creates an MCP server after checking its configuration.", create_flow);
    let change =
        helpmaton.flow("editMcpServer", "Changes an MCP server after checking its configuration.", change_flow);
    application
        .flow(create.outcomes(&["UnknownWorkspace", "WorkspaceGone", "ServerLimitReached"]))
        .flow(change.outcomes(&["Conflict"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_of_login_has_what_it_takes() {
        let url = "https://example.org/mcp";
        assert!(check(url, McpServerAuthType::None, &json!({})).is_ok());
        assert!(check(url, McpServerAuthType::Header, &json!({"headerValue": "x"})).is_ok());
        assert!(check(url, McpServerAuthType::Header, &json!({})).is_err());
        assert!(check(url, McpServerAuthType::Basic, &json!({"username": "a", "password": "b"})).is_ok());
        assert!(check(url, McpServerAuthType::Basic, &json!({"username": "a"})).is_err());
        for url in ["", "example.org", "https://", "file:///etc", "https:// x"] {
            assert!(check(url, McpServerAuthType::None, &json!({})).is_err(), "{url}");
        }
    }
}
