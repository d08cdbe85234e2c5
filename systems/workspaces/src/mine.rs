//! Workspaces of a person.

use std::collections::BTreeMap;

use keyform::{CallError, Timestamp, Uuid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{MemberRole, WorkspaceId, Workspaces};

/// A workspace of the caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyWorkspace {
    /// Id of the workspace.
    #[schemars(with = "String")]
    pub workspace_id: WorkspaceId,
    /// Name of the workspace.
    pub name: String,
    /// Role of the caller.
    #[schemars(with = "String")]
    pub role: MemberRole,
    /// Time of joining.
    #[schemars(with = "String")]
    pub joined_at: Timestamp,
}

/// One page of results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MyWorkspaces {
    /// Workspaces, each once.
    pub workspaces: Vec<MyWorkspace>,
    /// Cursor of the next page; absent on the last page.
    pub cursor: Option<String>,
}

/// Returns a page of a person's workspaces with their names: a Query of the index, and a BatchGetItem.
///
/// Omits workspaces that were just deleted, which the index may still contain.
///
/// # Errors
/// [`CallError::Forbidden`] if the handle belongs to another caller, and other errors of a read.
pub async fn my_workspaces(
    workspaces: &Workspaces,
    person: &Uuid,
    cursor: Option<String>,
) -> Result<MyWorkspaces, CallError> {
    let page = workspaces.workspaces_of_user(person).after_any(cursor).await?;
    let ids: Vec<WorkspaceId> = page.items.iter().map(|member| member.workspace_id.clone()).collect();
    let names = names(workspaces, &ids).await?;
    let named = page.items.into_iter().filter_map(|member| {
        let name = names.get(&member.workspace_id)?.clone();
        Some(MyWorkspace { workspace_id: member.workspace_id, name, role: member.role, joined_at: member.joined_at })
    });
    Ok(MyWorkspaces { workspaces: named.collect(), cursor: page.cursor })
}

/// Returns the names of the workspaces that exist.
async fn names(workspaces: &Workspaces, ids: &[WorkspaceId]) -> Result<BTreeMap<WorkspaceId, String>, CallError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let found = workspaces.workspace_names(ids).await?;
    Ok(found.into_iter().map(|workspace| (workspace.workspace_id, workspace.name)).collect())
}
