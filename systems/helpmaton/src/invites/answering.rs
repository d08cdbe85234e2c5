//! Views and accepts an invitation with its token.

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use keyform::runtime::run::RunError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Helpmaton;
use crate::identity::{Session, caller_of};
use crate::limits;
use crate::model::{
    AcceptInviteError, AcceptOwnerInviteError, Caller, GiveSeatError, SubscriptionId, UserId, WorkspaceInvite,
};
use crate::permissions::Level;
use crate::secrets::{is_well_formed, lookup_hash, same};

const TRIES_MAX: u32 = 5;

/// An invitation, as the holder of its token sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Invitation {
    /// Id of the workspace.
    pub workspace_id: String,
    /// Name of the workspace.
    pub workspace: String,
    /// E-mail address that may accept.
    pub email: String,
    /// 1 (read), 2 (write) or 3 (own).
    pub level: i64,
    /// Expiry in ISO 8601.
    pub expires_at: String,
}

/// Result of accepting an invitation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// Id of the workspace.
    pub workspace_id: String,
    /// Current level of the member.
    pub level: i64,
}

impl Helpmaton {
    /// Returns the open invitation of a token.
    ///
    /// # Errors
    /// Refused with `UnknownInvite`, `AlreadyAccepted` or `InviteExpired`; or the store fails.
    pub async fn invitation(&self, token: &str) -> Result<Invitation, FlowError> {
        let invite = self.open_invite(token).await?;
        let workspace = self.existing_workspace(&invite.workspace_id).await?;
        Ok(Invitation {
            workspace_id: invite.workspace_id.to_string(),
            workspace: workspace.name,
            email: invite.email,
            level: invite.permission_level,
            expires_at: invite.expires_at.to_string(),
        })
    }

    /// Accepts an invitation as a user with the invited address. An existing member keeps a higher level.
    ///
    /// # Errors
    /// Refused with `OtherAddress`, `InviterGone` if the inviter is no longer an owner, `UserLimitReached`, and as for
    /// [`Helpmaton::invitation`].
    pub async fn accept_invitation(&self, by: &Caller, token: &str) -> Result<Accepted, FlowError> {
        let invite = self.found_invite(token).await?;
        if invite.email != by.email {
            return Err(FlowError::refused(
                "OtherAddress",
                "the invitation is for another address: sign in with that \
                address",
            ));
        }
        if invite.accepted_by.as_ref() == Some(&by.user_id) {
            return self.accepted(&invite, &by.user_id).await;
        }
        self.check_open(&invite)?;
        let subscription = self.subscription_of_workspace(&invite.workspace_id).await?;
        let accepted = self.accept_with_seat(by, &invite, &subscription).await;
        if accepted.is_err() {
            self.release_if_unused(&subscription, &by.user_id).await;
        }
        accepted?;
        self.accepted(&invite, &by.user_id).await
    }

    /// Signs up a new user who accepts, and signs them in. Only the server created the token and mailed it, so its
    /// holder can read the mail of that address.
    ///
    /// An existing user must sign in first. An invitation is valid for a week, is forwarded more easily than a sign-in
    /// mail, and owners choose its recipients: it must not open an existing account.
    ///
    /// # Errors
    /// Refused with `SignInFirst` if the address has an account, and as for [`Helpmaton::accept_invitation`].
    pub async fn accept_invitation_as_guest(&self, token: &str, name: Option<&str>) -> Result<Session, FlowError> {
        let invite = self.open_invite(token).await?;
        let user = self.proven_newcomer(&invite.email, name).await?;
        self.accept_invitation(&caller_of(&user), token).await?;
        self.start_session(&user).await
    }

    async fn accept_with_seat(
        &self,
        by: &Caller,
        invite: &WorkspaceInvite,
        subscription: &SubscriptionId,
    ) -> Result<(), FlowError> {
        for _ in 0..TRIES_MAX {
            match self.model.give_seat(subscription, &by.user_id).await {
                Err(GiveSeatError::UserLimitReached) => {
                    self.tell_limit(subscription, "users").await;
                    return Err(GiveSeatError::UserLimitReached.into());
                }
                given => given?,
            }
            match self.try_to_accept(by, invite).await {
                // A concurrent call released the seat, because it was still unused.
                Err(FlowError::Refused { outcome, .. }) if outcome == "NoSeat" => {}
                Err(FlowError::Refused { outcome, .. }) if outcome == "AlreadyMember" => {
                    return self.answer_as_member(by, invite).await;
                }
                accepted => return accepted,
            }
        }
        Err(FlowError::Failed(RunError::Busy))
    }

    async fn try_to_accept(&self, by: &Caller, invite: &WorkspaceInvite) -> Result<(), FlowError> {
        if invite.permission_level == Level::Owner.number() {
            let accepted = self.model.accept_owner_invite(&invite.workspace_id, &invite.invite_id, &by.user_id).await;
            accepted.map(drop).map_err(AcceptOwnerInviteError::into)
        } else {
            let accepted = self.model.accept_invite(&invite.workspace_id, &invite.invite_id, &by.user_id).await;
            accepted.map(drop).map_err(AcceptInviteError::into)
        }
    }

    /// Handles a user who became a member meanwhile: raises their level on behalf of the inviter, if that is still an
    /// owner.
    async fn answer_as_member(&self, by: &Caller, invite: &WorkspaceInvite) -> Result<(), FlowError> {
        let inviter = Caller { user_id: invite.invited_by.clone(), email: String::new() };
        let level = Level::of(invite.permission_level)?;
        if self.level_of(&by.user_id, &invite.workspace_id).await? < Some(level) {
            self.ensure_access(&inviter, &invite.workspace_id, &by.user_id, level).await?;
        }
        self.model.answer_invite(&invite.workspace_id, &invite.invite_id, &by.user_id).await?;
        Ok(())
    }

    async fn accepted(&self, invite: &WorkspaceInvite, user: &UserId) -> Result<Accepted, FlowError> {
        let level = self.level_of(user, &invite.workspace_id).await?;
        Ok(Accepted { workspace_id: invite.workspace_id.to_string(), level: level.map_or(0, Level::number) })
    }

    async fn open_invite(&self, token: &str) -> Result<WorkspaceInvite, FlowError> {
        let invite = self.found_invite(token).await?;
        self.check_open(&invite)?;
        Ok(invite)
    }

    fn check_open(&self, invite: &WorkspaceInvite) -> Result<(), FlowError> {
        if invite.accepted_at.is_some() {
            return Err(FlowError::refused("AlreadyAccepted", "the invitation was already accepted"));
        }
        if invite.expires_at <= self.now() {
            return Err(FlowError::refused("InviteExpired", "the invitation has expired: ask for another"));
        }
        Ok(())
    }

    /// Finds an invitation: the index returns a candidate, the item decides.
    async fn found_invite(&self, token: &str) -> Result<WorkspaceInvite, FlowError> {
        let unknown = || FlowError::refused("UnknownInvite", "unknown invitation");
        if !is_well_formed(token, "") {
            return Err(unknown());
        }
        let hash = lookup_hash(token);
        let found = self.look_again(|| self.model.invite_by_token_hash(&hash)).await?.ok_or_else(unknown)?;
        let invite = self.model.invite_for_answer(&found.workspace_id, &found.invite_id).await?;
        invite.filter(|invite| same(invite.token_hash.expose(), &hash)).ok_or_else(unknown)
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Token {
    /// The mailed token.
    token: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Guest {
    /// The mailed token.
    token: String,
    /// Name for a new account.
    name: Option<String>,
}

async fn look(system: Helpmaton, call: FlowCall<Token>) -> Result<Invitation, FlowError> {
    system.attempt(&limits::INVITATION, call.client, None)?;
    system.invitation(&call.arguments.token).await
}

async fn accept(system: Helpmaton, call: FlowCall<Token>) -> Result<Accepted, FlowError> {
    let (by, _) = system.as_caller(&call.caller)?;
    system.attempt(&limits::INVITATION, call.client, Some(by.user_id.as_str()))?;
    system.accept_invitation(&by, &call.arguments.token).await
}

async fn accept_as_guest(system: Helpmaton, call: FlowCall<Guest>) -> Result<Session, FlowError> {
    system.attempt(&limits::INVITATION, call.client, None)?;
    system.accept_invitation_as_guest(&call.arguments.token, call.arguments.name.as_deref()).await
}

const OPEN: &[&str] = &["UnknownInvite", "AlreadyAccepted", "InviteExpired", "UnknownWorkspace"];
const ACCEPTED: &[&str] = &[
    "UnknownInvite",
    "AlreadyAccepted",
    "InviteExpired",
    "OtherAddress",
    "InviterGone",
    "UserLimitReached",
    "UnknownWorkspace",
    "WorkspaceGone",
];

pub(super) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    const GUEST: &[&str] = &[
        "UnknownInvite",
        "AlreadyAccepted",
        "InviteExpired",
        "SignInFirst",
        "InviterGone",
        "UserLimitReached",
        "UnknownWorkspace",
        "WorkspaceGone",
    ];
    let guest = "Signs up an invited user without an account, accepts the invitation, and signs in.";
    application
        .flow(helpmaton.flow("invitation", "Describes the invitation of a mailed token.", look).public().outcomes(OPEN))
        .flow(
            helpmaton
                .flow("acceptInvitation", "Accepts an invitation that was sent to the caller's address.", accept)
                .outcomes(ACCEPTED),
        )
        .flow(helpmaton.flow("acceptInvitationAsGuest", guest, accept_as_guest).public().outcomes(GUEST))
}
