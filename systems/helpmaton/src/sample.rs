//! Sample data: Ada, who has a workspace on a paid plan, and Bob, who is a member of it.

use keyform::flow::FlowError;

use crate::Helpmaton;
use crate::identity::{caller_of, own_subscription_id};
use crate::model::{
    Caller, CreateWorkspaceError, CreateWorkspaceInput, SignUpError, SignUpInput, SubscriptionPlan, User, UserId,
    WorkspaceId,
};
use crate::permissions::Level;

/// Id of the sample workspace.
pub const WORKSPACE: &str = "ada00000-0000-4000-8000-000000000002";
const ADA: &str = "ada00000-0000-4000-8000-000000000001";
const BOB: &str = "b0b00000-0000-4000-8000-000000000001";

/// Returns Ada, the owner of the workspace, as a caller.
#[must_use]
pub fn ada() -> Caller {
    Caller { user_id: UserId::from(keyform::Uuid::trusted(ADA.to_owned())), email: "ada@example.com".to_owned() }
}

/// Returns the typed id of the sample workspace.
#[must_use]
pub fn workspace_id() -> WorkspaceId {
    WorkspaceId::from(keyform::Uuid::trusted(WORKSPACE.to_owned()))
}

/// Writes the sample data if it is missing; returns lines that describe what to try.
pub(crate) async fn make(helpmaton: Helpmaton) -> Result<Vec<String>, FlowError> {
    let mut lines = people(&helpmaton).await?;
    lines.extend(crate::credits::sample(&helpmaton, &ada(), &workspace_id()).await?);
    Ok(lines)
}

/// Creates the people and their workspace if they are missing; returns lines that describe what to try.
async fn people(helpmaton: &Helpmaton) -> Result<Vec<String>, FlowError> {
    let ada = caller_of(&person(helpmaton, ADA, "ada@example.com", "Ada").await?);
    let bob = caller_of(&person(helpmaton, BOB, "bob@example.com", "Bob").await?);
    let subscription = own_subscription_id(&ada.user_id);
    helpmaton.put_on_plan(&subscription, SubscriptionPlan::Pro).await?;
    let workspace = CreateWorkspaceInput::new(workspace_id(), subscription, "Analytical Engines");
    match helpmaton.model.as_caller(ada.clone()).create_workspace(workspace).await {
        Ok(_) | Err(CreateWorkspaceError::WorkspaceExists | CreateWorkspaceError::AlreadyMember) => {}
        Err(other) => return Err(other.into()),
    }
    helpmaton.ensure_access(&ada, &workspace_id(), &bob.user_id, Level::Write).await?;
    Ok(told(&ada))
}

async fn person(helpmaton: &Helpmaton, id: &str, email: &str, name: &str) -> Result<User, FlowError> {
    let id = UserId::from(keyform::Uuid::trusted(id.to_owned()));
    let subscription = own_subscription_id(&id);
    let input = SignUpInput { name: Some(name.to_owned()), ..SignUpInput::new(id, email, subscription) };
    match helpmaton.model.sign_up(input).await {
        Err(SignUpError::EmailTaken) => helpmaton.user_of_email(email, None).await,
        signed_up => Ok(signed_up?),
    }
}

fn told(ada: &Caller) -> Vec<String> {
    let headers = format!(
        "-H 'Content-Type: application/json' -H 'X-Keyform-Caller: userId={}; email={}'",
        ada.user_id, ada.email
    );
    let curl =
        |flow: &str, body: &str| format!("  curl -s http://127.0.0.1:8000/v1/helpmaton/{flow} {headers} -d '{body}'");
    vec![
        "helpmaton: Ada's workspaces, and the members of hers".to_owned(),
        curl("myWorkspaces", "{}"),
        curl("members", &format!(r#"{{"workspaceId":"{WORKSPACE}"}}"#)),
    ]
}
