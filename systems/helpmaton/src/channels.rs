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
    self, CreateChannelError, CreateChannelInput, OutputChannel, OutputChannelId, OutputChannelType, WorkspaceId,
};

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

/// Creates a channel. A repeated call with the same id returns the existing channel.
///
/// # Errors
/// The configuration is invalid; or refused with `ChannelLimitReached`, `WorkspaceGone` or `UnknownWorkspace`.
pub async fn create(
    by: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    channel_id: &OutputChannelId,
    kind: OutputChannelType,
    name: &str,
    config: Value,
) -> Result<OutputChannel, FlowError> {
    check(kind, &config)?;
    let input = CreateChannelInput {
        channel_id: Some(channel_id.clone()),
        ..CreateChannelInput::new(workspace_id.clone(), kind, name, config)
    };
    match by.create_channel(input).await {
        Err(CreateChannelError::ChannelExists) => {
            let found = by.channel_by_id(workspace_id, channel_id).await?;
            found.ok_or_else(|| CreateChannelError::ChannelExists.into())
        }
        created => Ok(created?),
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
    let (_, by) = helpmaton.as_caller(&call.caller)?;
    let CreateArguments { workspace_id, kind, name, config } = call.arguments;
    let id = helpmaton.id_for(call.token.as_deref(), "channel");
    let made = create(&by, &workspace_id, &id, kind, &name, config).await?;
    Ok(ChannelAnswer { channel_id: made.channel_id, version: made.version })
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let create =
        helpmaton.flow("addChannel", "Creates an output channel after checking its configuration.", create_flow);
    application.flow(create.outcomes(&["UnknownWorkspace", "WorkspaceGone", "ChannelLimitReached"]))
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
