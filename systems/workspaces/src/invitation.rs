//! Invites: creation, preview and joining.

use std::time::Duration;

use keyform::World;
use keyform::{CallError, Epoch, Timestamp, Uuid};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    CreateInviteError, CreateInviteInput, Invite, InviteCode, JoinByInviteError, MemberRole, WorkspaceId, Workspaces,
};

/// Attempts with a new code if one is taken. A code has 80 bits, so one attempt is nearly always enough.
const TRIES: usize = 3;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Duration and capacity of an invite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Validity in days, at most 30; a week by default.
    pub days: Option<u32>,
    /// Maximum number of uses; unlimited by default.
    pub max_uses: Option<i64>,
}

/// An invite, as the holder of its code sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AboutInvite {
    /// Id of the workspace.
    #[schemars(with = "String")]
    pub workspace_id: WorkspaceId,
    /// Name of the workspace.
    pub name: String,
    /// Expiry in seconds since 1970.
    #[schemars(with = "i64")]
    pub expires_at: Epoch,
    /// Remaining uses; absent if unlimited.
    pub uses_left: Option<i64>,
}

/// Result of joining.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Joined {
    /// Id of the workspace.
    #[schemars(with = "String")]
    pub workspace_id: WorkspaceId,
    /// Role of the member.
    #[schemars(with = "String")]
    pub role: MemberRole,
    /// True if the person was not a member before.
    pub is_new: bool,
}

/// Creates an invite. `workspaces` is the owner's handle.
///
/// # Errors
/// [`CreateInviteError::BadExpiry`] for zero or more than 30 days, and the other outcomes of the write.
pub async fn invite(
    workspaces: &Workspaces,
    clock: &dyn World,
    workspace_id: &WorkspaceId,
    terms: Terms,
) -> Result<Invite, CreateInviteError> {
    let now = Timestamp::of_millis(clock.now_millis());
    let expires_at = terms.days.map(|days| Epoch::from(now + DAY * days));
    let input = CreateInviteInput { workspace_id: workspace_id.clone(), expires_at, max_uses: terms.max_uses };
    for _ in 1..TRIES {
        match workspaces.create_invite(input.clone()).await {
            Err(CreateInviteError::CodeTaken) => {}
            made => return made,
        }
    }
    workspaces.create_invite(input).await
}

/// Returns a preview of an invite, or `None` if it does not exist, has expired or is used up, or if its workspace is
/// deleted.
///
/// # Errors
/// A read fails.
pub async fn about(workspaces: &Workspaces, code: &InviteCode) -> Result<Option<AboutInvite>, CallError> {
    let Some(invite) = workspaces.invite_by_code(code).await? else { return Ok(None) };
    let uses_left = invite.max_uses.map(|max| max - invite.uses);
    if uses_left.is_some_and(|left| left <= 0) {
        return Ok(None);
    }
    let named = workspaces.workspace_names(std::slice::from_ref(&invite.workspace_id)).await?;
    Ok(named.into_iter().next().map(|workspace| AboutInvite {
        workspace_id: workspace.workspace_id,
        name: workspace.name,
        expires_at: invite.expires_at,
        uses_left,
    }))
}

/// Joins the workspace of an invite. `workspaces` is the person's handle.
///
/// One transaction creates the membership and counts the use. An existing member keeps its role and uses nothing up.
///
/// # Errors
/// The invite is unknown, has expired or is used up, or its workspace is deleted.
pub async fn join(workspaces: &Workspaces, person: &Uuid, code: &InviteCode) -> Result<Joined, JoinByInviteError> {
    if let Some(member) = workspaces.join_by_invite(code).await? {
        return Ok(Joined { workspace_id: member.workspace_id, role: member.role, is_new: true });
    }
    let invite = workspaces.invite_by_code(code).await?.ok_or(JoinByInviteError::UnknownInvite)?;
    let member = workspaces.membership(&invite.workspace_id, person).await;
    match member {
        Ok(Some(member)) => Ok(Joined { workspace_id: member.workspace_id, role: member.role, is_new: false }),
        // A member who was just removed may retry.
        Ok(None) | Err(CallError::Forbidden) => Err(CallError::Busy.into()),
        Err(error) => Err(error.into()),
    }
}
