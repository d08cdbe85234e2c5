//! Invitations from the owner's side: creating, listing and withdrawing.

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Helpmaton;
use crate::limits;
use crate::model::{
    Caller, InviteError, InviteInput, InvitesForWorkspaceWorkspaceInvite, WithdrawInviteError, Workspace, WorkspaceId,
    WorkspaceInviteId,
};
use crate::notify::Notice;
use crate::permissions::{Level, Part};
use crate::secrets::{Minted, lookup_hash};

/// An invitation, as owners see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invited {
    /// Id of the invitation, for revoking it.
    pub invite_id: String,
    /// Invited e-mail address.
    pub email: String,
    /// Level after accepting: 1 (read), 2 (write) or 3 (own).
    pub level: i64,
    /// Expiry in ISO 8601.
    pub expires_at: String,
}

impl Helpmaton {
    /// Invites an address and mails the token. A call that is repeated with its key sends no second mail.
    ///
    /// # Errors
    /// Refused with `AlreadyInvited`, `AlreadyMember`, `UserLimitReached` or `WorkspaceGone`; [`FlowError::Forbidden`]
    /// if `by` is not an owner.
    pub async fn invite(
        &self,
        by: &Caller,
        workspace: &WorkspaceId,
        email: &str,
        level: Level,
        key: Option<&str>,
    ) -> Result<Invited, FlowError> {
        self.require_level(&by.user_id, workspace, Level::Owner).await?;
        let id: WorkspaceInviteId = self.id_for(key, "invite");
        if let Some(made) = self.repeated(workspace, &id, key).await? {
            return Ok(made);
        }
        let found = self.existing_workspace(workspace).await?;
        self.check_room(&found, email).await?;
        let token = Minted::new("", &*self.world());
        let input = InviteInput {
            invite_id: Some(id),
            ..InviteInput::new(
                workspace.clone(),
                email,
                lookup_hash(token.reveal()),
                level.number(),
                by.user_id.clone(),
            )
        };
        let made = self.try_to_invite(by, input).await?;
        let notice = Notice::Invited { workspace_id: workspace.to_string(), workspace: found.name, token };
        self.tell(&made.email, notice).await;
        Ok(made)
    }

    /// Returns the result of the same call before.
    async fn repeated(
        &self,
        workspace: &WorkspaceId,
        id: &WorkspaceInviteId,
        key: Option<&str>,
    ) -> Result<Option<Invited>, FlowError> {
        let Some(_) = key else { return Ok(None) };
        let made = self.model.invite_for_answer(workspace, id).await?;
        Ok(made.map(|invite| Invited {
            invite_id: invite.invite_id.to_string(),
            email: invite.email,
            level: invite.permission_level,
            expires_at: invite.expires_at.to_string(),
        }))
    }

    /// Checks that the address does not belong to a member and that a seat is available. The seat is taken when the
    /// invitation is accepted.
    async fn check_room(&self, workspace: &Workspace, email: &str) -> Result<(), FlowError> {
        let subscription = &workspace.subscription_id;
        if let Some(user) = self.model.user_by_email(email).await? {
            if self.level_of(&user.id, &workspace.workspace_id).await?.is_some() {
                return Err(FlowError::refused("AlreadyMember", "the address belongs to a member"));
            }
            let seats = self.model.seats(subscription).all().await?;
            if seats.iter().any(|seat| seat.member_id == user.id) {
                return Ok(());
            }
        }
        if self.existing_subscription(subscription).await?.users_left > 0 {
            return Ok(());
        }
        self.tell_limit(subscription, "users").await;
        Err(FlowError::refused("UserLimitReached", "the plan has no free seat: choose a larger plan"))
    }

    async fn try_to_invite(&self, by: &Caller, input: InviteInput) -> Result<Invited, FlowError> {
        let made = match self.model.invite(input.clone()).await {
            Err(InviteError::AlreadyInvited) if self.clear_expired(by, &input).await? => self.model.invite(input).await,
            made => made,
        };
        let made = made.map_err(|error| match error {
            InviteError::Forbidden => FlowError::Forbidden,
            other => other.into(),
        })?;
        Ok(Invited {
            invite_id: made.invite_id.to_string(),
            email: made.email,
            level: made.permission_level,
            expires_at: made.expires_at.to_string(),
        })
    }

    /// Removes an expired invitation of the address; returns whether there was one.
    async fn clear_expired(&self, by: &Caller, input: &InviteInput) -> Result<bool, FlowError> {
        let model = self.model.as_caller(by.clone());
        let address = input.email.trim().to_lowercase();
        let invites = model.invites_for_workspace(&input.workspace_id).all().await?;
        let over = |invite: &&InvitesForWorkspaceWorkspaceInvite| {
            invite.email == address && invite.accepted_at.is_none() && invite.expires_at <= self.now()
        };
        for invite in invites.iter().filter(over) {
            match model.withdraw_invite(&input.workspace_id, &invite.invite_id).await {
                Ok(()) => return Ok(true),
                Err(WithdrawInviteError::UnknownInvite | WithdrawInviteError::AlreadyAccepted) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Ok(false)
    }

    /// Returns the open invitations.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] if `by` is not an owner; or the store fails.
    pub async fn pending_invites(
        &self,
        by: &Caller,
        workspace: &WorkspaceId,
        cursor: Option<String>,
    ) -> Result<Part<Invited>, FlowError> {
        let page = self.model.as_caller(by.clone()).invites_for_workspace(workspace).after_any(cursor).await?;
        let waits = |invite: &InvitesForWorkspaceWorkspaceInvite| {
            invite.accepted_at.is_none() && invite.expires_at > self.now()
        };
        let shown = |invite: InvitesForWorkspaceWorkspaceInvite| Invited {
            invite_id: invite.invite_id.to_string(),
            email: invite.email,
            level: invite.permission_level,
            expires_at: invite.expires_at.to_string(),
        };
        Ok(Part { items: page.items.into_iter().filter(waits).map(shown).collect(), cursor: page.cursor })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Invite {
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// E-mail address to invite.
    email: String,
    /// 1 (read), 2 (write) or 3 (own); 1 by default.
    level: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Pending {
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Cursor of the previous page.
    cursor: Option<String>,
}

async fn invite(system: Helpmaton, call: FlowCall<Invite>) -> Result<Invited, FlowError> {
    let (by, _) = system.as_caller(&call.caller)?;
    let Invite { workspace_id, email, level } = call.arguments;
    let level = Level::of(level.unwrap_or(Level::Read.number()))?;
    system.attempt_to_invite(call.client, by.user_id.as_str(), &limits::mailbox(&email)?)?;
    system.invite(&by, &workspace_id, &email, level, call.token.as_deref()).await
}

async fn pending(system: Helpmaton, call: FlowCall<Pending>) -> Result<Part<Invited>, FlowError> {
    let (by, _) = system.as_caller(&call.caller)?;
    system.pending_invites(&by, &call.arguments.workspace_id, call.arguments.cursor).await
}

pub(super) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    application
        .flow(
            helpmaton.flow("inviteByEmail", "Invites an address to a workspace and mails a token.", invite).outcomes(
                &["AlreadyInvited", "AlreadyMember", "UserLimitReached", "UnknownWorkspace", "WorkspaceGone"],
            ),
        )
        .flow(helpmaton.flow("pendingInvites", "Lists the pending invitations of a workspace.", pending))
}
