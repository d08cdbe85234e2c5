//! Creates workspaces within the limits of the owner's subscription.

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::Helpmaton;
use crate::model::{Caller, CreateWorkspaceError, CreateWorkspaceInput, Workspace, WorkspaceCurrency, WorkspaceId};

/// A workspace to create.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewWorkspace {
    /// Name of the workspace.
    pub name: String,
    /// Purpose of the workspace.
    pub description: Option<String>,
    /// usd, eur or gbp; usd by default and for unknown values.
    pub currency: Option<String>,
}

impl Helpmaton {
    /// Creates a workspace that `by` owns, in their subscription. A call that is repeated with its key returns the same
    /// workspace.
    ///
    /// # Errors
    /// Refused with `WorkspaceLimitReached`, or the store fails.
    pub async fn open_workspace(
        &self,
        by: &Caller,
        new: NewWorkspace,
        key: Option<&str>,
    ) -> Result<Workspace, FlowError> {
        let subscription = self.subscription_of(&by.user_id).await?.subscription_id;
        let id: WorkspaceId = self.id_for(key, "workspace");
        let currency = new.currency.as_deref().and_then(|text| text.to_lowercase().parse().ok());
        let input = CreateWorkspaceInput {
            description: new.description,
            currency: Some(currency.unwrap_or(WorkspaceCurrency::Usd)),
            ..CreateWorkspaceInput::new(id.clone(), subscription.clone(), new.name)
        };
        let model = self.model.as_caller(by.clone());
        match model.create_workspace(input).await {
            Err(CreateWorkspaceError::WorkspaceExists | CreateWorkspaceError::AlreadyMember) if key.is_some() => {
                self.existing_workspace(&id).await
            }
            Err(CreateWorkspaceError::WorkspaceLimitReached) => {
                self.tell_limit(&subscription, "workspaces").await;
                Err(CreateWorkspaceError::WorkspaceLimitReached.into())
            }
            made => Ok(made?),
        }
    }
}

/// A workspace, as in the results of patterns.
#[derive(serde::Serialize, JsonSchema)]
#[serde(transparent)]
struct Shown(Value);

async fn open(system: Helpmaton, call: FlowCall<NewWorkspace>) -> Result<Shown, FlowError> {
    let (by, _) = system.as_caller(&call.caller)?;
    let made = system.open_workspace(&by, call.arguments, call.token.as_deref()).await?;
    serde_json::to_value(made).map(Shown).map_err(|error| FlowError::Broken(error.to_string()))
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let about = "Creates a workspace that the caller owns, in the caller's subscription.";
    application.flow(helpmaton.flow("openWorkspace", about, open).outcomes(&[
        "WorkspaceLimitReached",
        "WorkspaceExists",
        "NoSeat",
    ]))
}
