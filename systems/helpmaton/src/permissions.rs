//! Permissions in a workspace: read, write, own.
//!
//! The writes of the model enforce that members grant at most their own level, that only owners change owners, and that
//! the last owner stays, even under concurrent changes. This module selects the write, takes a seat of the subscription
//! for a new member, and releases unused seats.

use std::collections::BTreeMap;

use keyform::CallError;
use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use keyform::runtime::run::RunError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Helpmaton;
use crate::model::{
    AddMemberError, AddOwnerError, Caller, ChangeMemberError, DemoteOwnerError, ReleaseSeatError, RemoveMemberError,
    RemoveOwnerError, StepDownError, SubscriptionId, TakeSeatError, User, UserId, Workspace, WorkspaceId,
};

/// Attempts of a change against concurrent changes of the member's level.
const TRIES_MAX: u32 = 5;

/// Permission level of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// May read everything.
    Read = 1,
    /// May change everything in the workspace.
    Write = 2,
    /// May also invite and remove people, and delete the workspace.
    Owner = 3,
}

impl Level {
    /// Returns the number that the model stores.
    #[must_use]
    pub fn number(self) -> i64 {
        self as i64
    }

    /// Converts the number that the model stores.
    ///
    /// # Errors
    /// The number is not 1, 2 or 3.
    pub fn of(number: i64) -> Result<Self, FlowError> {
        match number {
            1 => Ok(Self::Read),
            2 => Ok(Self::Write),
            3 => Ok(Self::Owner),
            _ => Err(FlowError::Arguments("a level must be 1 (read), 2 (write) or 3 (own)".to_owned())),
        }
    }
}

/// A member of a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Id of the user.
    pub user_id: String,
    /// E-mail address; absent for a deleted user.
    pub email: Option<String>,
    /// Name of the user.
    pub name: Option<String>,
    /// 1 (read), 2 (write) or 3 (own).
    pub level: i64,
    /// Time of joining in ISO 8601.
    pub since: String,
}

/// A workspace of the caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyWorkspace {
    /// Id of the workspace.
    pub workspace_id: String,
    /// Name of the workspace.
    pub name: String,
    /// Currency: usd, eur or gbp.
    pub currency: String,
    /// Level of the caller: 1 (read), 2 (write) or 3 (own).
    pub level: i64,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Part<T> {
    /// Items of the page.
    pub items: Vec<T>,
    /// Cursor of the next page; absent on the last page.
    pub cursor: Option<String>,
}

impl Helpmaton {
    /// Returns the level of a user in a workspace; `None` for non-members.
    ///
    /// # Errors
    /// The store fails.
    pub async fn level_of(&self, user: &UserId, workspace: &WorkspaceId) -> Result<Option<Level>, FlowError> {
        let permission = self.model.workspace_permission(workspace, user).await?;
        permission.map(|permission| Level::of(permission.r#type)).transpose()
    }

    /// Returns the level of a user, who must have at least `least`.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] otherwise; or the store fails.
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
    /// Refused with `AlreadyMember`, `UserLimitReached` and the outcomes of the model's `addMember` and `addOwner`;
    /// [`FlowError::Forbidden`] if `by` may not grant this level.
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
            // A concurrent call released the seat, because it was still unused.
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

    /// Ensures that a user has at least a level: adds or raises the member, and never lowers it. Returns the resulting
    /// level.
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

    /// Sets a user's level, whether they are a member or not.
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

    /// Changes the level; returns whether the old level was still current.
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

    /// Removes a user from a workspace: oneself at any level, others as an owner.
    ///
    /// # Errors
    /// Refused with `NotAMember` or `LastOwner`; [`FlowError::Forbidden`] if `by` lacks permission.
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

    /// Removes the member; returns whether the level for which the write was selected was still current.
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

    /// Releases an unused seat. If this fails, the hourly job does it.
    pub(crate) async fn release_if_unused(&self, subscription: &SubscriptionId, user: &UserId) {
        match self.model.release_seat(subscription, user).await {
            Ok(()) | Err(ReleaseSeatError::SeatInUse | ReleaseSeatError::IsManager) => {}
            Err(error) => tracing::debug!(%subscription, "cannot release a seat: {error}"),
        }
    }

    pub(crate) async fn subscription_of_workspace(&self, workspace: &WorkspaceId) -> Result<SubscriptionId, FlowError> {
        Ok(self.existing_workspace(workspace).await?.subscription_id)
    }

    pub(crate) async fn existing_workspace(&self, workspace: &WorkspaceId) -> Result<Workspace, FlowError> {
        let found = self.model.workspace_by_id(workspace).await?;
        found.ok_or_else(|| FlowError::refused("UnknownWorkspace", "unknown workspace"))
    }

    /// Returns the members of a workspace with their addresses.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] if `by` is not a member; or the store fails.
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

    /// Returns the caller's workspaces in the order of their ids. Skips deleted ones.
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
    /// E-mail address or id of a user.
    user: String,
    /// 1 (read), 2 (write) or 3 (own); 1 by default.
    level: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Removal {
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// E-mail address or id of a member.
    user: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Members {
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Cursor of the previous page.
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mine {
    /// Cursor of the previous page.
    cursor: Option<String>,
}

/// Level of a user after a change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Access {
    /// Id of the user.
    user_id: String,
    /// 1 (read), 2 (write) or 3 (own); 0 if the user is no longer a member.
    level: i64,
}

/// Kind of access change.
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
    let subscription = system.subscription_of_workspace(&workspace_id).await?;
    let user = system.colleague(&subscription, &user).await?.id;
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
    let subscription = system.subscription_of_workspace(&call.arguments.workspace_id).await?;
    let user = system.colleague(&subscription, &call.arguments.user).await?.id;
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

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let grants = |name, about, change| {
        helpmaton.flow(name, about, move |system, call| grant(system, call, change)).outcomes(GRANTS)
    };
    application
        .flow(grants("giveAccess", "Adds a user who has a seat in the subscription to a workspace.", Change::Give))
        .flow(grants("ensureAccess", "Adds a member or raises the level; never lowers it.", Change::Ensure))
        .flow(grants("changeAccess", "Sets the level of a user.", Change::Exactly))
        .flow(helpmaton.flow("removeAccess", "Removes a user from a workspace.", remove).outcomes(&[
            "UnknownUser",
            "UnknownWorkspace",
            "NotAMember",
            "LastOwner",
        ]))
        .flow(helpmaton.flow("members", "Lists the members of a workspace with their addresses.", members))
        .flow(helpmaton.flow("myWorkspaces", "Lists the caller's workspaces.", mine))
}
