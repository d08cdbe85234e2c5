//! Streaming servers of agents: a secret in a URL, and the origins that may use it.

use keyform::CallError;
use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Helpmaton;
use crate::config::has_host;
use crate::model::{self, AgentId, CreateStreamServerError, CreateStreamServerInput, StreamServer, WorkspaceId};
use crate::secrets::same;

/// Matches any origin.
const ANY: &str = "*";

/// Normalizes origins: `*`, or scheme and host without a path.
///
/// # Errors
/// An origin is neither.
pub fn origins(origins: Vec<String>) -> Result<Vec<String>, FlowError> {
    origins.iter().map(|origin| checked_origin(origin)).collect()
}

fn checked_origin(origin: &str) -> Result<String, FlowError> {
    let origin = origin.trim().trim_end_matches('/').to_lowercase();
    let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let is_host = has_host(&origin, "https://") || has_host(&origin, "http://");
    if origin == ANY || (is_host && rest.is_some_and(|rest| !rest.contains(['/', '?', '#']))) {
        return Ok(origin);
    }
    Err(FlowError::Arguments(format!("`{origin}` is neither `*` nor an origin such as https://example.org")))
}

/// Returns whether a page of this origin may use the server. An empty list allows every page.
#[must_use]
pub fn is_allowed(allowed: &[String], origin: Option<&str>) -> bool {
    if allowed.is_empty() || allowed.iter().any(|allowed| allowed == ANY) {
        return true;
    }
    let Some(Ok(origin)) = origin.map(checked_origin) else { return false };
    origin != ANY && allowed.contains(&origin)
}

/// A streaming server as its owner sees it.
#[derive(Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenServer {
    /// Secret part of the URL: letters and digits.
    pub secret: String,
    /// Origins of pages that may use it.
    pub allowed_origins: Vec<String>,
    /// Version to pass to the next change.
    pub version: i64,
}

impl From<StreamServer> for OpenServer {
    fn from(server: StreamServer) -> Self {
        Self { secret: server.secret.into_inner(), allowed_origins: server.allowed_origins, version: server.version }
    }
}

/// Creates an agent's streaming server.
///
/// # Errors
/// An origin is invalid; or refused with `StreamExists` or `UnknownAgent`.
pub async fn open(
    by: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    allowed: Vec<String>,
) -> Result<OpenServer, FlowError> {
    let input = CreateStreamServerInput {
        allowed_origins: Some(origins(allowed)?),
        ..CreateStreamServerInput::new(workspace_id.clone(), agent_id.clone())
    };
    Ok(by.create_stream_server(input).await?.into())
}

/// Returns whether a request may stream: its secret is the agent's, and its origin is allowed. The secret is compared
/// in constant time.
///
/// # Errors
/// The read fails.
pub async fn may_stream(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    secret: &str,
    origin: Option<&str>,
) -> Result<bool, CallError> {
    let server = helpmaton.model.stream_server(workspace_id, agent_id).await?;
    Ok(server.is_some_and(|server| same(server.secret.expose(), secret) && is_allowed(&server.allowed_origins, origin)))
}

/// New origins of a streaming server.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OriginsArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Id of the agent.
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// Origins of pages that may use it; an empty list allows every page.
    #[serde(default)]
    allowed_origins: Vec<String>,
}

async fn open_flow(helpmaton: Helpmaton, call: FlowCall<OriginsArguments>) -> Result<OpenServer, FlowError> {
    let (_, by) = helpmaton.as_caller(&call.caller)?;
    let OriginsArguments { workspace_id, agent_id, allowed_origins } = call.arguments;
    crate::access::writer(&helpmaton, &call.caller, &workspace_id).await?;
    match open(&by, &workspace_id, &agent_id, allowed_origins).await {
        // A repeated request returns the server that the first one created.
        Err(FlowError::Refused { outcome, .. }) if outcome == "StreamExists" && call.token.is_some() => {
            let found = by.stream_server(&workspace_id, &agent_id).await?;
            Ok(found.ok_or(CreateStreamServerError::StreamExists)?.into())
        }
        opened => opened,
    }
}

async fn change_flow(helpmaton: Helpmaton, call: FlowCall<OriginsArguments>) -> Result<OpenServer, FlowError> {
    let (_, by) = helpmaton.as_caller(&call.caller)?;
    let OriginsArguments { workspace_id, agent_id, allowed_origins } = call.arguments;
    crate::access::writer(&helpmaton, &call.caller, &workspace_id).await?;
    let found = by.stream_server(&workspace_id, &agent_id).await?;
    let found = found.ok_or_else(|| FlowError::refused("NoStream", "the agent has no streaming server"))?;
    Ok(by.change_origins(&workspace_id, &agent_id, &origins(allowed_origins)?, found.version).await?.into())
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    const OPEN: &[&str] = &["StreamExists", "UnknownAgent"];
    application
        .flow(helpmaton.flow("openStream", "Creates the streaming server of an agent.", open_flow).outcomes(OPEN))
        .flow(
            helpmaton
                .flow("setStreamOrigins", "Sets the origins that may stream.", change_flow)
                .outcomes(&["NoStream"]),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_scheme_and_host() {
        let checked = |origin: &str| checked_origin(origin).ok();
        assert_eq!(checked("*").as_deref(), Some("*"));
        assert_eq!(checked(" HTTPS://Example.org/ ").as_deref(), Some("https://example.org"));
        assert_eq!(checked("http://localhost:3000").as_deref(), Some("http://localhost:3000"));
        for wrong in ["", "example.org", "https://", "https://a/b", "ftp://a", "https://a@b"] {
            assert_eq!(checked(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn pages_are_let_in_by_origin() {
        let list = |origins: &[&str]| origins.iter().map(|&origin| origin.to_owned()).collect::<Vec<_>>();
        assert!(is_allowed(&[], None));
        assert!(is_allowed(&list(&["*"]), Some("https://a.org")));
        assert!(is_allowed(&list(&["https://a.org"]), Some("https://A.org")));
        assert!(!is_allowed(&list(&["https://a.org"]), Some("https://a.org.evil.org")));
        assert!(!is_allowed(&list(&["https://a.org"]), Some("*")));
        assert!(!is_allowed(&list(&["https://a.org"]), None));
    }
}
