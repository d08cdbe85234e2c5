//! Managers of a subscription besides its owner.

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Helpmaton;
use crate::model::{
    AddManagerError, Caller, CloseFreeSubscriptionError, GiveSeatError, RemoveManagerError, SubscriptionId,
    SubscriptionPlan, UserId,
};

impl Helpmaton {
    /// Makes a user a manager. Their own subscription must be free and empty, and is closed, because a user has only
    /// one.
    ///
    /// # Errors
    /// Refused with `AlreadyManager`, `OwnSubscriptionInUse`, `ManagerLimitReached` or `UserLimitReached`;
    /// [`FlowError::Forbidden`] if `by` is not a manager.
    pub async fn make_manager(
        &self,
        by: &Caller,
        subscription: &SubscriptionId,
        user: &UserId,
    ) -> Result<(), FlowError> {
        let model = self.model.as_caller(by.clone());
        if model.subscription_permission(subscription, user).await?.is_some() {
            return Err(AddManagerError::AlreadyManager.into());
        }
        if self.existing_subscription(subscription).await?.managers_left <= 0 {
            return Err(self.managers_are_too_many(subscription).await);
        }
        self.close_own_subscription(user).await?;
        self.seat_for_manager(subscription, user).await?;
        match model.add_manager(subscription, user).await {
            Ok(_) => Ok(()),
            Err(error) => {
                self.release_if_unused(subscription, user).await;
                Err(match error {
                    AddManagerError::Forbidden => FlowError::Forbidden,
                    AddManagerError::ManagerLimitReached => self.managers_are_too_many(subscription).await,
                    other => other.into(),
                })
            }
        }
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

    /// Removes a manager, but never the owner.
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
    // Check the permission first, so that strangers do not learn who has an account.
    model.subscription_by_id(&call.arguments.subscription_id).await?;
    let user = system.user_named(&call.arguments.user).await?.id;
    system.make_manager(&by, &call.arguments.subscription_id, &user).await?;
    Ok(Managing { user_id: user.to_string(), manages: true })
}

async fn dismiss(system: Helpmaton, call: FlowCall<Manager>) -> Result<Managing, FlowError> {
    let (by, model) = system.as_caller(&call.caller)?;
    model.subscription_by_id(&call.arguments.subscription_id).await?;
    let user = system.user_named(&call.arguments.user).await?.id;
    system.dismiss_manager(&by, &call.arguments.subscription_id, &user).await?;
    Ok(Managing { user_id: user.to_string(), manages: false })
}

pub(super) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    application
        .flow(helpmaton.flow("makeManager", "Adds a manager to a subscription.", make).outcomes(&[
            "UnknownUser",
            "UnknownSubscription",
            "AlreadyManager",
            "OwnSubscriptionInUse",
            "ManagerLimitReached",
            "UserLimitReached",
        ]))
        .flow(helpmaton.flow("dismissManager", "Removes a manager from a subscription.", dismiss).outcomes(&[
            "UnknownUser",
            "NotAManager",
            "IsTheOwner",
        ]))
}
