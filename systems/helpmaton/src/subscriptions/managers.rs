//! Managers of a subscription besides its owner.

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Helpmaton;
use crate::model::{
    AcceptManagementError, AddManagerError, Caller, CloseFreeSubscriptionError, GiveSeatError, RemoveManagerError,
    SubscriptionId, SubscriptionPlan, UserId,
};

/// Level of a manager's permission. A lower one means that the user was asked and has not accepted.
pub(super) const MANAGER: i64 = 3;

impl Helpmaton {
    /// Asks a user to manage a subscription. Nothing changes for the user before they accept it with
    /// [`Helpmaton::become_manager`]: a manager has no subscription of their own, and their workspaces belong to this
    /// one.
    ///
    /// # Errors
    /// Refused with `AlreadyManager` or `ManagerLimitReached`; [`FlowError::Forbidden`] if `by` is not a manager.
    pub async fn make_manager(
        &self,
        by: &Caller,
        subscription: &SubscriptionId,
        user: &UserId,
    ) -> Result<(), FlowError> {
        match self.model.as_caller(by.clone()).add_manager(subscription, user).await {
            Ok(_) => Ok(()),
            Err(AddManagerError::Forbidden) => Err(FlowError::Forbidden),
            Err(AddManagerError::ManagerLimitReached) => Err(self.managers_are_too_many(subscription).await),
            Err(other) => Err(other.into()),
        }
    }

    /// Accepts the request to manage a subscription. The user's own subscription must be free and empty, and is closed, because a
    /// user has only one.
    ///
    /// # Errors
    /// Refused with `NotAsked`, `OwnSubscriptionInUse` or `UserLimitReached`.
    pub async fn become_manager(&self, user: &UserId, subscription: &SubscriptionId) -> Result<(), FlowError> {
        match self.model.subscription_permission(subscription, user).await? {
            Some(asked) if asked.r#type >= MANAGER => return Ok(()),
            Some(_) => {}
            None => return Err(AcceptManagementError::NotAsked.into()),
        }
        self.close_own_subscription(user).await?;
        self.seat_for_manager(subscription, user).await?;
        if let Err(error) = self.model.accept_management(subscription, user).await {
            self.release_if_unused(subscription, user).await;
            return Err(error.into());
        }
        Ok(())
    }

    async fn managers_are_too_many(&self, subscription: &SubscriptionId) -> FlowError {
        self.tell_limit(subscription, "managers").await;
        AddManagerError::ManagerLimitReached.into()
    }

    async fn seat_for_manager(&self, subscription: &SubscriptionId, user: &UserId) -> Result<(), FlowError> {
        match self.model.give_seat(subscription, user).await {
            Err(GiveSeatError::UserLimitReached) => {
                self.tell_limit(subscription, "users").await;
                Err(GiveSeatError::UserLimitReached.into())
            }
            given => Ok(given?),
        }
    }

    async fn close_own_subscription(&self, user: &UserId) -> Result<(), FlowError> {
        let in_use = || {
            let detail = "the user's own subscription must be free and without workspaces";
            FlowError::refused("OwnSubscriptionInUse", detail)
        };
        let Some(own) = self.own_subscription(user).await? else { return Ok(()) };
        if own.plan != SubscriptionPlan::Free {
            return Err(in_use());
        }
        match self.model.close_free_subscription(&own.subscription_id, user).await {
            Ok(()) => Ok(()),
            Err(CloseFreeSubscriptionError::Failed(error)) => Err(error.into()),
            Err(_) => Err(in_use()),
        }
    }

    /// Removes a manager, or a user who was asked, but never the owner.
    ///
    /// # Errors
    /// Refused with `NotAManager` or `IsTheOwner`; [`FlowError::Forbidden`] if `by` is not a manager.
    pub async fn dismiss_manager(
        &self,
        by: &Caller,
        subscription: &SubscriptionId,
        user: &UserId,
    ) -> Result<(), FlowError> {
        let dismissed = self.model.as_caller(by.clone()).remove_manager(subscription, user).await;
        match dismissed {
            Ok(()) => {
                self.release_if_unused(subscription, user).await;
                Ok(())
            }
            Err(RemoveManagerError::Failed(error)) => Err(error.into()),
            Err(refused) => Err(refused.into()),
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Manager {
    #[schemars(with = "String")]
    subscription_id: SubscriptionId,
    /// E-mail address or id of a user.
    user: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Managed {
    #[schemars(with = "String")]
    subscription_id: SubscriptionId,
}

/// State of a manager after a change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Managing {
    /// Id of the user.
    user_id: String,
    /// True if the user manages the subscription now.
    manages: bool,
}

async fn make(system: Helpmaton, call: FlowCall<Manager>) -> Result<Managing, FlowError> {
    let (by, model) = system.as_caller(&call.caller)?;
    // Check the permission first, so that strangers do not learn who has a seat.
    model.subscription_by_id(&call.arguments.subscription_id).await?;
    let user = system.colleague(&call.arguments.subscription_id, &call.arguments.user).await?.id;
    system.make_manager(&by, &call.arguments.subscription_id, &user).await?;
    Ok(Managing { user_id: user.to_string(), manages: false })
}

async fn accept(system: Helpmaton, call: FlowCall<Managed>) -> Result<Managing, FlowError> {
    let (by, _) = system.as_caller(&call.caller)?;
    system.become_manager(&by.user_id, &call.arguments.subscription_id).await?;
    Ok(Managing { user_id: by.user_id.to_string(), manages: true })
}

async fn dismiss(system: Helpmaton, call: FlowCall<Manager>) -> Result<Managing, FlowError> {
    let (by, model) = system.as_caller(&call.caller)?;
    model.subscription_by_id(&call.arguments.subscription_id).await?;
    let user = system.colleague(&call.arguments.subscription_id, &call.arguments.user).await?.id;
    system.dismiss_manager(&by, &call.arguments.subscription_id, &user).await?;
    Ok(Managing { user_id: user.to_string(), manages: false })
}

pub(super) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    application
        .flow(helpmaton.flow("makeManager", "Asks a user with a seat to manage a subscription.", make).outcomes(&[
            "UnknownUser",
            "UnknownSubscription",
            "AlreadyManager",
            "ManagerLimitReached",
        ]))
        .flow(helpmaton.flow("becomeManager", "Accepts the request to manage a subscription.", accept).outcomes(&[
            "NotAsked",
            "OwnSubscriptionInUse",
            "UserLimitReached",
        ]))
        .flow(helpmaton.flow("dismissManager", "Removes a manager from a subscription.", dismiss).outcomes(&[
            "UnknownUser",
            "NotAManager",
            "IsTheOwner",
        ]))
}
