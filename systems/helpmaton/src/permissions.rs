//! Who may do what in a workspace: read, write, own.
//!
//! Nobody grants more than they have, only owners touch owners, and the last owner stays: the writes of the model see to that, also when several change the same
//! workspace at once. What is here finds the write that is meant, takes a seat of the subscription for a new member, and gives it back when nobody uses it.

use std::collections::BTreeMap;

use keyform::CallError;
use keyform::application::Application;
use keyform::runtime::run::RunError;
use keyform::server::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Helpmaton;
use crate::model::{
    AddMemberError, AddOwnerError, Caller, ChangeMemberError, DemoteOwnerError, ReleaseSeatError, RemoveMemberError,
    RemoveOwnerError, StepDownError, SubscriptionId, TakeSeatError, User, UserId, Workspace, WorkspaceId,
};

/// How often a change is tried anew when the member's level changes under it.
const TRIES_MAX: u32 = 5;

/// What a member may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Look at everything.
    Read = 1,
    /// Change everything in the workspace.
    Write = 2,
    /// Also invite and remove people, and delete the workspace.
    Owner = 3,
}

impl Level {
    /// As the model has it.
    #[must_use]
    pub fn number(self) -> i64 {
        self as i64
    }

    /// Of the model's number.
    ///
    /// # Errors
    /// It is not 1, 2 or 3.
    pub fn of(number: i64) -> Result<Self, FlowError> {
        match number {
            1 => Ok(Self::Read),
            2 => Ok(Self::Write),
            3 => Ok(Self::Owner),
            _ => Err(FlowError::Arguments("a level is 1 (read), 2 (write) or 3 (own)".to_owned())),
        }
    }
}

/// A member of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Who.
    pub user_id: String,
    /// The address; absent for a user who is gone.
    pub email: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// 1 reads, 2 writes, 3 owns.
    pub level: i64,
    /// Since when, in ISO 8601.
    pub since: String,
}

/// A workspace of somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyWorkspace {
    /// Its id.
    pub workspace_id: String,
    /// Its name.
    pub name: String,
    /// usd, eur or gbp.
    pub currency: String,
    /// What they may do there.
    pub level: i64,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Part<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next part begins, if there is one.
    pub cursor: Option<String>,
}

impl Helpmaton {
    /// What a user may do in a workspace; nothing for one who is no member.
    ///
    /// # Errors
    /// The store fails.
    pub async fn level_of(&self, user: &UserId, workspace: &WorkspaceId) -> Result<Option<Level>, FlowError> {
        let permission = self.model.workspace_permission(workspace, user).await?;
        permission.map(|permission| Level::of(permission.r#type)).transpose()
    }

    /// The level of a user who has at least `least`.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] for everybody else; or the store fails.
    pub async fn require_level(
        &self,
        user: &UserId,
        workspace: &WorkspaceId,
        least: Level,
    ) -> Result<Level, FlowError> {
        self.level_of(user, workspace).await?.filter(|level| *level >= least).ok_or(FlowError::Forbidden)
    }

    /// Makes a user a member.
    ///
    /// # Errors
    /// Refused with `AlreadyMember`, `UserLimitReached` and what the model's `addMember` and `addOwner` have; [`FlowError::Forbidden`] if `by` may not grant this.
    pub async fn give_access(
        &self,
        by: &Caller,
        workspace: &WorkspaceId,
        user: &UserId,
        level: Level,
    ) -> Result<(), FlowError> {
        self.require_level(&by.user_id, workspace, level.max(Level::Write)).await?;
        let subscription = self.subscription_of_workspace(workspace).await?;
        let mut given = Err(FlowError::Failed(RunError::Busy));
        for _ in 0..TRIES_MAX {
            self.take_seat(workspace, user, &subscription).await?;
            given = self.try_to_give(by, workspace, user, level).await;
            // The seat was given back by somebody who saw it unused.
            if !matches!(&given, Err(FlowError::Refused { outcome, .. }) if outcome == "NoSeat") {
                break;
            }
        }
        if given.is_err() {
            self.release_if_unused(&subscription, user).await;
        }
        given
    }

    async fn take_seat(
        &self,
        workspace: &WorkspaceId,
        user: &UserId,
        subscription: &SubscriptionId,
    ) -> Result<(), FlowError> {
        match self.model.take_seat(workspace, user).await {
            Err(TakeSeatError::UserLimitReached) => {
                self.tell_limit(subscription, "users").await;
                Err(TakeSeatError::UserLimitReached.into())
            }
            taken => Ok(taken?),
        }
    }

    async fn try_to_give(
        &self,
        by: &Caller,
        workspace: &WorkspaceId,
        user: &UserId,
        level: Level,
    ) -> Result<(), FlowError> {
        let model = self.model.as_caller(by.clone());
        if level == Level::Owner {
            model.add_owner(workspace, user).await.map(drop).map_err(|error| match error {
                AddOwnerError::Forbidden => FlowError::Forbidden,
                other => other.into(),
            })
        } else {
            model.add_member(workspace, user, level.number()).await.map(drop).map_err(|error| match error {
                AddMemberError::Forbidden => FlowError::Forbidden,
                other => other.into(),
            })
        }
    }

    /// Sees to it that a user has at least a level: makes them a member, or raises them, and never lowers them. The level they have then.
    ///
    /// # Errors
    /// As for [`Helpmaton::give_access`].
    pub async fn ensure_access(
        &self,
        by: &Caller,
        workspace: &WorkspaceId,
        user: &UserId,
        level: Level,
    ) -> Result<Level, FlowError> {
        self.require_level(&by.user_id, workspace, level.max(Level::Write)).await?;
        let model = self.model.as_caller(by.clone());
        for _ in 0..TRIES_MAX {
            match self.level_of(user, workspace).await? {
                Some(has) if has >= level => return Ok(has),
                Some(_) if level == Level::Owner => drop(model.promote_to_owner(workspace, user).await?),
                Some(_) => drop(model.raise_member(workspace, user, level.number()).await?),
                None => match self.give_access(by, workspace, user, level).await {
                    Err(FlowError::Refused { outcome, .. }) if outcome == "AlreadyMember" => {}
                    given => return given.map(|()| level),
                },
            }
        }
        Err(FlowError::Failed(RunError::Busy))
    }

    /// Gives a user exactly a level, whether they are a member or not.
    ///
    /// # Errors
    /// Refused with `LastOwner`, and as for [`Helpmaton::give_access`].
    pub async fn change_access(
        &self,
        by: &Caller,
        workspace: &WorkspaceId,
        user: &UserId,
        level: Level,
    ) -> Result<(), FlowError> {
        self.require_level(&by.user_id, workspace, level.max(Level::Write)).await?;
        for _ in 0..TRIES_MAX {
            match self.level_of(user, workspace).await? {
                Some(has) if has == level => return Ok(()),
                Some(has) => {
                    if self.try_to_change(by, workspace, user, (has, level)).await? {
                        return Ok(());
                    }
                }
                None => match self.give_access(by, workspace, user, level).await {
                    Err(FlowError::Refused { outcome, .. }) if outcome == "AlreadyMember" => {}
                    given => return given,
                },
            }
        }
        Err(FlowError::Failed(RunError::Busy))
    }

    /// Whether the level was still the one it is changed from.
    async fn try_to_change(
        &self,
        by: &Caller,
        workspace: &WorkspaceId,
        user: &UserId,
        (from, to): (Level, Level),
    ) -> Result<bool, FlowError> {
        let model = self.model.as_caller(by.clone());
        match (from, to) {
            (_, Level::Owner) => Ok(model.promote_to_owner(workspace, user).await?.is_some()),
            (Level::Owner, _) if *user == by.user_id => match model.step_down(workspace, to.number()).await {
                Err(StepDownError::NotAnOwner) => Ok(false),
                changed => Ok(changed.map(|_| true)?),
            },
            (Level::Owner, _) => match model.demote_owner(workspace, user, to.number()).await {
                Err(DemoteOwnerError::NotAnOwner) => Ok(false),
                Err(DemoteOwnerError::Forbidden) => Err(FlowError::Forbidden),
                changed => Ok(changed.map(|_| true)?),
            },
            _ => match model.change_member(workspace, user, to.number()).await {
                Err(ChangeMemberError::IsOwner) => Ok(false),
                Err(ChangeMemberError::Forbidden) => Err(FlowError::Forbidden),
                changed => Ok(changed.map(|_| true)?),
            },
        }
    }

    /// Takes a user out of a workspace; oneself at any level, others as an owner.
    ///
    /// # Errors
    /// Refused with `NotAMember` or `LastOwner`; [`FlowError::Forbidden`] if `by` may not.
    pub async fn remove_access(&self, by: &Caller, workspace: &WorkspaceId, user: &UserId) -> Result<(), FlowError> {
        let subscription = self.subscription_of_workspace(workspace).await?;
        for _ in 0..TRIES_MAX {
            if self.try_to_remove(by, workspace, user).await? {
                self.release_if_unused(&subscription, user).await;
                return Ok(());
            }
        }
        Err(FlowError::Failed(RunError::Busy))
    }

    /// Whether the user still had the level by which the write was chosen.
    async fn try_to_remove(&self, by: &Caller, workspace: &WorkspaceId, user: &UserId) -> Result<bool, FlowError> {
        let model = self.model.as_caller(by.clone());
        if self.level_of(user, workspace).await? != Some(Level::Owner) {
            return match model.remove_member(workspace, user).await {
                Err(RemoveMemberError::IsOwner) => Ok(false),
                removed => Ok(removed.map(|()| true)?),
            };
        }
        if *user == by.user_id {
            return Ok(model.leave_as_owner(workspace).await.map(|()| true)?);
        }
        match model.remove_owner(workspace, user).await {
            Err(RemoveOwnerError::NotAnOwner) => Ok(false),
            Err(RemoveOwnerError::Forbidden) => Err(FlowError::Forbidden),
            removed => Ok(removed.map(|()| true)?),
        }
    }

    /// Gives a seat back that nobody uses. What fails here the hourly job does.
    pub(crate) async fn release_if_unused(&self, subscription: &SubscriptionId, user: &UserId) {
        match self.model.release_seat(subscription, user).await {
            Ok(()) | Err(ReleaseSeatError::SeatInUse | ReleaseSeatError::IsManager) => {}
            Err(error) => tracing::debug!(%subscription, "a seat was not given back: {error}"),
        }
    }

    pub(crate) async fn subscription_of_workspace(&self, workspace: &WorkspaceId) -> Result<SubscriptionId, FlowError> {
        Ok(self.existing_workspace(workspace).await?.subscription_id)
    }

    pub(crate) async fn existing_workspace(&self, workspace: &WorkspaceId) -> Result<Workspace, FlowError> {
        let found = self.model.workspace_by_id(workspace).await?;
        found.ok_or_else(|| FlowError::refused("UnknownWorkspace", "there is no such workspace"))
    }

    /// The members of a workspace with their addresses.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] if `by` is no member; or the store fails.
    pub async fn members(
        &self,
        by: &Caller,
        workspace: &WorkspaceId,
        cursor: Option<String>,
    ) -> Result<Part<Member>, FlowError> {
        let page = self.model.as_caller(by.clone()).members_of_workspace(workspace).after_any(cursor).await?;
        let ids: Vec<UserId> = page.items.iter().map(|permission| permission.user_id.clone()).collect();
        let users = self.users(&ids).await?;
        let member = |permission: &crate::model::WorkspacePermission| {
            let user = users.get(&permission.user_id);
            Member {
                user_id: permission.user_id.to_string(),
                email: user.map(|user| user.email.clone()),
                name: user.and_then(|user| user.name.clone()),
                level: permission.r#type,
                since: permission.created_at.to_string(),
            }
        };
        Ok(Part { items: page.items.iter().map(member).collect(), cursor: page.cursor })
    }

    async fn users(&self, ids: &[UserId]) -> Result<BTreeMap<UserId, User>, CallError> {
        let users = if ids.is_empty() { Vec::new() } else { self.model.users_by_ids(ids).await? };
        Ok(users.into_iter().map(|user| (user.id.clone(), user)).collect())
    }

    /// The workspaces of somebody, in the order of their ids. One that is gone is skipped.
    ///
    /// # Errors
    /// The store fails.
    pub async fn my_workspaces(&self, by: &Caller, cursor: Option<String>) -> Result<Part<MyWorkspace>, FlowError> {
        let page = self.model.as_caller(by.clone()).workspaces_of_user(&by.user_id).after_any(cursor).await?;
        let ids: Vec<WorkspaceId> = page.items.iter().map(|permission| permission.workspace_id.clone()).collect();
        let found = if ids.is_empty() { Vec::new() } else { self.model.workspaces_by_ids(&ids).await? };
        let found: BTreeMap<WorkspaceId, Workspace> =
            found.into_iter().map(|workspace| (workspace.workspace_id.clone(), workspace)).collect();
        let mine = |permission: &crate::model::WorkspacePermission| {
            let workspace = found.get(&permission.workspace_id)?;
            Some(MyWorkspace {
                workspace_id: workspace.workspace_id.to_string(),
                name: workspace.name.clone(),
                currency: workspace.currency.to_string(),
                level: permission.r#type,
            })
        };
        Ok(Part { items: page.items.iter().filter_map(mine).collect(), cursor: page.cursor })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Grant {
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// The address or the id of a user.
    user: String,
    /// 1 reads, 2 writes, 3 owns; 1 if nothing is said.
    level: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Removal {
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// The address or the id of a member.
    user: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Members {
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Where the last part ended.
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mine {
    /// Where the last part ended.
    cursor: Option<String>,
}

/// What a member may do after a change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Access {
    /// Who.
    user_id: String,
    /// 1 reads, 2 writes, 3 owns; 0 for one who is no member any more.
    level: i64,
}

/// How a member's access changes.
#[derive(Clone, Copy)]
enum Change {
    Give,
    Ensure,
    Exactly,
}

async fn grant(system: Helpmaton, call: FlowCall<Grant>, change: Change) -> Result<Access, FlowError> {
    let (by, _) = system.as_caller(&call.caller)?;
    let Grant { workspace_id, user, level } = call.arguments;
    let mut level = Level::of(level.unwrap_or(Level::Read.number()))?;
    system.require_level(&by.user_id, &workspace_id, Level::Write).await?;
    let user = system.user_named(&user).await?.id;
    match change {
        Change::Give => system.give_access(&by, &workspace_id, &user, level).await?,
        Change::Ensure => level = system.ensure_access(&by, &workspace_id, &user, level).await?,
        Change::Exactly => system.change_access(&by, &workspace_id, &user, level).await?,
    }
    Ok(Access { user_id: user.to_string(), level: level.number() })
}

async fn remove(system: Helpmaton, call: FlowCall<Removal>) -> Result<Access, FlowError> {
    let (by, _) = system.as_caller(&call.caller)?;
    system.require_level(&by.user_id, &call.arguments.workspace_id, Level::Read).await?;
    let user = system.user_named(&call.arguments.user).await?.id;
    system.remove_access(&by, &call.arguments.workspace_id, &user).await?;
    Ok(Access { user_id: user.to_string(), level: 0 })
}

async fn members(system: Helpmaton, call: FlowCall<Members>) -> Result<Part<Member>, FlowError> {
    let (by, _) = system.as_caller(&call.caller)?;
    system.members(&by, &call.arguments.workspace_id, call.arguments.cursor).await
}

async fn mine(system: Helpmaton, call: FlowCall<Mine>) -> Result<Part<MyWorkspace>, FlowError> {
    let (by, _) = system.as_caller(&call.caller)?;
    system.my_workspaces(&by, call.arguments.cursor).await
}

const GRANTS: &[&str] =
    &["UnknownUser", "UnknownWorkspace", "AlreadyMember", "UserLimitReached", "WorkspaceGone", "LastOwner"];

/// Its flows.
pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let grants = |name, about, change| {
        helpmaton.flow(name, about, move |system, call| grant(system, call, change)).outcomes(GRANTS)
    };
    application
        .flow(grants("giveAccess", "Makes a user a member of a workspace.", Change::Give))
        .flow(grants("ensureAccess", "Makes or raises a member; never lowers one.", Change::Ensure))
        .flow(grants("changeAccess", "Gives a user exactly a level.", Change::Exactly))
        .flow(helpmaton.flow("removeAccess", "Takes a user out of a workspace.", remove).outcomes(&[
            "UnknownUser",
            "UnknownWorkspace",
            "NotAMember",
            "LastOwner",
        ]))
        .flow(helpmaton.flow("members", "The members of a workspace with their addresses.", members))
        .flow(helpmaton.flow("myWorkspaces", "The caller's workspaces.", mine))
}
