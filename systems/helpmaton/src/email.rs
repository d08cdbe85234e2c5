//! Mail connection of a workspace; setting a new one replaces the old. Its configuration is checked when it is set,
//! encrypted, and never returned.

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Helpmaton;
use crate::config::Config;
use crate::model::{
    Caller, EmailConnection, EmailConnectionType, SetEmailConnectionError, SetEmailConnectionInput, WorkspaceId,
};
use crate::permissions::Level;

/// Checks a configuration.
///
/// # Errors
/// The missing or invalid field.
pub fn check(kind: EmailConnectionType, config: &Value) -> Result<(), FlowError> {
    let config = Config::of("a mail connection's configuration", config)?;
    match kind {
        EmailConnectionType::Smtp => {
            for name in ["host", "username", "password", "fromEmail"] {
                config.text(name)?;
            }
            config.port("port")?;
            config.flag("secure")?;
            Ok(())
        }
        EmailConnectionType::Gmail | EmailConnectionType::Outlook => config.text("refreshToken").map(drop),
    }
}

/// Sets the connection, for a member who may write.
///
/// # Errors
/// The configuration is invalid; [`FlowError::Forbidden`] if `by` may not write; or refused with `WorkspaceGone`.
pub async fn set(
    helpmaton: &Helpmaton,
    by: &Caller,
    workspace_id: &WorkspaceId,
    kind: EmailConnectionType,
    name: &str,
    config: &Value,
) -> Result<EmailConnection, FlowError> {
    check(kind, config)?;
    helpmaton.require_level(&by.user_id, workspace_id, Level::Write).await?;
    let (name, config) = (name.to_owned(), config.clone());
    let (workspace_id, by) = (workspace_id.clone(), by.user_id.clone());
    let input = SetEmailConnectionInput { workspace_id, r#type: kind, name, config, by };
    match helpmaton.model.set_email_connection(input).await {
        Err(SetEmailConnectionError::Forbidden) => Err(FlowError::Forbidden),
        set => Ok(set?),
    }
}

/// A mail connection to set.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SetArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Kind of the connection: `gmail`, `outlook` or `smtp`.
    #[serde(rename = "type")]
    #[schemars(with = "String")]
    kind: EmailConnectionType,
    /// Display name.
    name: String,
    /// For SMTP `host`, `port`, `secure`, `username`, `password` and `fromEmail`; for the others `refreshToken`.
    config: Value,
}

/// A mail connection.
#[derive(Debug, Serialize, JsonSchema)]
struct ConnectionAnswer {
    /// Display name.
    name: String,
}

async fn set_flow(helpmaton: Helpmaton, call: FlowCall<SetArguments>) -> Result<ConnectionAnswer, FlowError> {
    let (by, _) = helpmaton.as_caller(&call.caller)?;
    let SetArguments { workspace_id, kind, name, config } = call.arguments;
    let made = set(&helpmaton, &by, &workspace_id, kind, &name, &config).await?;
    Ok(ConnectionAnswer { name: made.name })
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let set = helpmaton.flow(
        "connectEmail",
        "Sets the mail connection of a workspace after checking its configuration.",
        set_flow,
    );
    application.flow(set.outcomes(&["WorkspaceGone"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn smtp_needs_all_of_its_fields() {
        let whole = json!({
            "host": "mail.example.org", "port": 587, "secure": true, "username": "a", "password": "b", "fromEmail": "a@example.org"
        });
        assert!(check(EmailConnectionType::Smtp, &whole).is_ok());
        for missing in ["host", "port", "secure", "username", "password", "fromEmail"] {
            let mut config = whole.clone();
            config.as_object_mut().expect("an object").remove(missing);
            assert!(check(EmailConnectionType::Smtp, &config).is_err(), "{missing}");
        }
        assert!(check(EmailConnectionType::Gmail, &json!({"refreshToken": "x"})).is_ok());
        assert!(check(EmailConnectionType::Gmail, &json!({})).is_err());
    }
}
