//! Output channels for notifications of agents. Their configuration is checked when it is set, encrypted, and never
//! returned.

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Helpmaton;
use crate::config::{Config, https_url};
use crate::model::{
    Caller, ChangeChannelError, ChangeChannelInput, CreateChannelError, CreateChannelInput, OutputChannel,
    OutputChannelId, OutputChannelType, WorkspaceId,
};
use crate::permissions::Level;

/// Minimum length of a Discord bot token.
const BOT_TOKEN_CHARS_MIN: usize = 59;

/// Checks a configuration.
///
/// # Errors
/// The missing or invalid field.
pub fn check(kind: OutputChannelType, config: &Value) -> Result<(), FlowError> {
    let config = Config::of("a channel's configuration", config)?;
    match kind {
        OutputChannelType::Discord => {
            let token = config.text("botToken")?;
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
            if token.len() < BOT_TOKEN_CHARS_MIN || !token.bytes().all(is_plain) {
                return Err(FlowError::Arguments("`botToken` is not the token of a Discord bot".to_owned()));
            }
            config.text("discordChannelId").map(drop)
        }
        OutputChannelType::Slack => https_url("webhookUrl", config.text("webhookUrl")?),
        OutputChannelType::Email => match config.text("address")?.contains('@') {
            true => Ok(()),
            false => Err(FlowError::Arguments("`address` is not an e-mail address".to_owned())),
        },
    }
}

/// Creates a channel, for a member who may write. A repeated call with the same id returns the existing channel.
///
/// # Errors
/// The configuration is invalid; [`FlowError::Forbidden`] if `by` may not write; or refused with `ChannelLimitReached`,
/// `WorkspaceGone` or `UnknownWorkspace`.
pub async fn create(
    helpmaton: &Helpmaton,
    by: &Caller,
    workspace_id: &WorkspaceId,
    channel_id: &OutputChannelId,
    kind: OutputChannelType,
    name: &str,
    config: Value,
) -> Result<OutputChannel, FlowError> {
    check(kind, &config)?;
    helpmaton.require_level(&by.user_id, workspace_id, Level::Write).await?;
    let input = CreateChannelInput {
        channel_id: Some(channel_id.clone()),
        ..CreateChannelInput::new(workspace_id.clone(), kind, name, config, by.user_id.clone())
    };
    match helpmaton.model.create_channel(input).await {
        Err(CreateChannelError::ChannelExists) => {
            let found = helpmaton.model.channel_by_id(workspace_id, channel_id).await?;
            found.ok_or_else(|| CreateChannelError::ChannelExists.into())
        }
        Err(CreateChannelError::Forbidden) => Err(FlowError::Forbidden),
        created => Ok(created?),
    }
}

/// Changes the name and the configuration of a channel, for a member who may write. Its kind stays.
///
/// # Errors
/// The configuration is invalid; [`FlowError::Forbidden`] if `by` may not write; or refused with `UnknownChannel`, or
/// with `Conflict` if the channel has another version than expected.
pub async fn change(
    helpmaton: &Helpmaton,
    by: &Caller,
    (workspace_id, channel_id): (&WorkspaceId, &OutputChannelId),
    name: &str,
    config: Value,
    expected_version: i64,
) -> Result<OutputChannel, FlowError> {
    helpmaton.require_level(&by.user_id, workspace_id, Level::Write).await?;
    let channel = helpmaton.model.channel_by_id(workspace_id, channel_id).await?;
    let channel = channel.ok_or_else(|| FlowError::refused("UnknownChannel", "unknown channel"))?;
    check(channel.r#type, &config)?;
    let input = ChangeChannelInput {
        workspace_id: workspace_id.clone(),
        channel_id: channel_id.clone(),
        name: name.to_owned(),
        config,
        expected_version,
        by: by.user_id.clone(),
    };
    match helpmaton.model.change_channel(input).await {
        Err(ChangeChannelError::Forbidden) => Err(FlowError::Forbidden),
        changed => Ok(changed?),
    }
}

/// An output channel to create.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CreateArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Kind of the channel: `discord`, `slack` or `email`.
    #[serde(rename = "type")]
    #[schemars(with = "String")]
    kind: OutputChannelType,
    /// Display name.
    name: String,
    /// For Discord `botToken` and `discordChannelId`, for Slack `webhookUrl`, for mail `address`.
    config: Value,
}

/// A new name and configuration of an output channel.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChangeArguments {
    /// The workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// The channel.
    #[schemars(with = "String")]
    channel_id: OutputChannelId,
    /// Display name.
    name: String,
    /// Complete configuration, as for a new channel of its type.
    config: Value,
    /// Version that the change is based on.
    expected_version: i64,
}

/// An output channel.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ChannelAnswer {
    /// Id of the channel.
    #[schemars(with = "String")]
    channel_id: OutputChannelId,
    /// Version to pass to the next change.
    version: i64,
}

async fn create_flow(helpmaton: Helpmaton, call: FlowCall<CreateArguments>) -> Result<ChannelAnswer, FlowError> {
    let (by, _) = helpmaton.as_caller(&call.caller)?;
    let CreateArguments { workspace_id, kind, name, config } = call.arguments;
    let id = helpmaton.id_for(call.token.as_deref(), "channel");
    let made = create(&helpmaton, &by, &workspace_id, &id, kind, &name, config).await?;
    Ok(ChannelAnswer { channel_id: made.channel_id, version: made.version })
}

async fn change_flow(helpmaton: Helpmaton, call: FlowCall<ChangeArguments>) -> Result<ChannelAnswer, FlowError> {
    let (by, _) = helpmaton.as_caller(&call.caller)?;
    let ChangeArguments { workspace_id, channel_id, name, config, expected_version } = call.arguments;
    let at = (&workspace_id, &channel_id);
    let changed = change(&helpmaton, &by, at, &name, config, expected_version).await?;
    Ok(ChannelAnswer { channel_id: changed.channel_id, version: changed.version })
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let create =
        helpmaton.flow("addChannel", "Creates an output channel after checking its configuration.", create_flow);
    let change =
        helpmaton.flow("editChannel", "Changes an output channel after checking its configuration.", change_flow);
    application
        .flow(create.outcomes(&["UnknownWorkspace", "WorkspaceGone", "ChannelLimitReached"]))
        .flow(change.outcomes(&["UnknownChannel", "Conflict"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_has_what_it_takes_to_send() {
        let token = "a".repeat(59);
        let discord = |token: &str| json!({"botToken": token, "discordChannelId": "1"});
        assert!(check(OutputChannelType::Discord, &discord(&token)).is_ok());
        assert!(check(OutputChannelType::Discord, &discord("short")).is_err());
        assert!(check(OutputChannelType::Discord, &discord(&format!("{token} "))).is_err());
        assert!(check(OutputChannelType::Discord, &json!({"botToken": token})).is_err());
        assert!(check(OutputChannelType::Slack, &json!({"webhookUrl": "https://example.org/x"})).is_ok());
        assert!(check(OutputChannelType::Slack, &json!({"webhookUrl": "ftp://example.org"})).is_err());
        assert!(check(OutputChannelType::Email, &json!({"address": "a@example.org"})).is_ok());
        assert!(check(OutputChannelType::Email, &json!([])).is_err());
    }
}
