//! Sample data: a reading list that two people share.

use keyform::Uuid;
use keyform::flow::FlowError;
use serde_json::json;

use crate::invitation;
use crate::mine;
use crate::model::{Caller, CreateInviteInput, WorkspaceId, Workspaces};

const ADA: &str = "0ada0ada-0000-4000-8000-000000000001";
const BOB: &str = "0b0b0b0b-0000-4000-8000-000000000002";
const NAME: &str = "Reading list";
const ITEMS: [(&str, &str); 4] = [
    ("Notes on the Analytical Engine", "Note G has the table: read it with pen and paper."),
    ("How indexes lag behind", "Ask what a reader sees between the write and its index entry."),
    ("Bread with rye", "700 g rye, 500 g water, a spoon of salt; a night in a cool room."),
    ("Trains to Vienna", "The night train has a table and a window."),
];

/// Writes the sample data if it is missing; returns lines that describe what to try.
///
/// # Errors
/// The store fails, or a concurrent process changes the sample.
pub async fn make(workspaces: &Workspaces) -> Result<Vec<String>, FlowError> {
    let (ada, bob) = (person(ADA), person(BOB));
    let as_ada = workspaces.as_caller(Caller { user_id: ada.clone() });
    let home = found(&as_ada, &ada).await?;
    let home = match home {
        Some(home) => home,
        None => as_ada.create_workspace(NAME).await?.workspace_id,
    };
    share(workspaces, &as_ada, &home, &bob).await?;
    fill(&as_ada, &home).await?;
    Ok(lines(&home))
}

fn person(id: &str) -> Uuid {
    Uuid::trusted(id.to_owned())
}

/// Returns the sample's workspace, if it exists.
async fn found(as_ada: &Workspaces, ada: &Uuid) -> Result<Option<WorkspaceId>, FlowError> {
    let mine = mine::my_workspaces(as_ada, ada, None).await?;
    Ok(mine.workspaces.into_iter().find(|workspace| workspace.name == NAME).map(|workspace| workspace.workspace_id))
}

/// Adds Bob with a single-use invite.
async fn share(workspaces: &Workspaces, as_ada: &Workspaces, home: &WorkspaceId, bob: &Uuid) -> Result<(), FlowError> {
    if as_ada.membership(home, bob).await?.is_some() {
        return Ok(());
    }
    let input = CreateInviteInput { max_uses: Some(1), ..CreateInviteInput::new(home.clone()) };
    let invite = as_ada.create_invite(input).await?;
    let as_bob = workspaces.as_caller(Caller { user_id: bob.clone() });
    invitation::join(&as_bob, bob, &invite.code).await?;
    Ok(())
}

async fn fill(as_ada: &Workspaces, home: &WorkspaceId) -> Result<(), FlowError> {
    let there = as_ada.items_of_workspace(home).await?;
    for (title, content) in ITEMS {
        if there.items.iter().all(|item| item.title != title) {
            as_ada.create_item(home, title, content).await?;
        }
    }
    as_ada.set_setting(home, "theme", &json!("dark")).await?;
    as_ada.set_setting(home, "shortcuts", &json!({ "save": "Alt+S", "search": "Alt+F" })).await?;
    Ok(())
}

fn lines(home: &WorkspaceId) -> Vec<String> {
    let call = |caller: &str, rest: &str| format!("curl -s -H 'X-Keyform-Caller: userId={caller}' {rest}");
    let base = "http://127.0.0.1:8000/v1/workspaces";
    let json = "-H 'Content-Type: application/json'";
    vec![
        format!("the workspace \"{NAME}\" belongs to Ada ({ADA}); Bob ({BOB}) is a member"),
        call(ADA, &format!("'{base}/workspace?workspaceId={home}'")),
        call(BOB, &format!("{json} -d '{{}}' {base}/myWorkspaces")),
        call(ADA, &format!("{json} -d '{{\"workspaceId\":\"{home}\",\"maxUses\":2}}' {base}/createInvite")),
    ]
}
