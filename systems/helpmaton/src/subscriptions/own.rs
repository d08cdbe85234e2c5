//! Subscription of a user: their own, or the one they manage; a free one is created if there is neither.

use keyform::CallError;
use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use keyform::runtime::run::RunError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::managers::MANAGER;
use super::plans::effective_plan;
use crate::Helpmaton;
use crate::identity::own_subscription_id;
use crate::model::{StartSubscriptionError, Subscription, SubscriptionId, UserId};

const LOOKS_MAX: u32 = 6;

impl Helpmaton {
    /// Returns the subscription that a user owns.
    ///
    /// # Errors
    /// The store fails.
    pub async fn own_subscription(&self, user: &UserId) -> Result<Option<Subscription>, FlowError> {
        let usual = self.model.subscription_by_id(&own_subscription_id(user)).await?;
        match usual.filter(|subscription| subscription.user_id == *user) {
            Some(subscription) => Ok(Some(subscription)),
            // A subscription that was created with another id.
            None => Ok(self.model.subscription_of_user(user).await?),
        }
    }

    /// Returns a user's subscription: their own, otherwise the one they manage, otherwise a new free one. Of concurrent
    /// calls one creates it, and all return the same.
    ///
    /// # Errors
    /// Refused with `UnknownUser`, or the store fails.
    pub async fn subscription_of(&self, user: &UserId) -> Result<Subscription, FlowError> {
        for look in 0..LOOKS_MAX {
            if let Some(own) = self.own_subscription(user).await? {
                return Ok(own);
            }
            if let Some(managed) = self.look_again(|| self.managed_subscription(user)).await? {
                return Ok(managed);
            }
            match self.model.start_subscription(&own_subscription_id(user), user).await {
                Err(StartSubscriptionError::AlreadySubscribed) => self.pause(look).await,
                started => return Ok(started?),
            }
        }
        Err(FlowError::Failed(RunError::Busy))
    }

    /// Finds a managed subscription: the index returns candidates, the items confirm them.
    async fn managed_subscription(&self, user: &UserId) -> Result<Option<Subscription>, CallError> {
        for permission in self.model.subscriptions_of_user(user).all().await? {
            let id = &permission.subscription_id;
            let permission = self.model.subscription_permission(id, user).await?;
            // A user who was asked to manage a subscription and has not accepted stays in their own.
            if permission.is_some_and(|permission| permission.r#type >= MANAGER) {
                return self.model.subscription_by_id(id).await;
            }
        }
        Ok(None)
    }

    pub(crate) async fn existing_subscription(&self, id: &SubscriptionId) -> Result<Subscription, FlowError> {
        let found = self.model.subscription_by_id(id).await?;
        found.ok_or_else(|| FlowError::refused("UnknownSubscription", "unknown subscription"))
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mine {}

/// A subscription, and what is left of its plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MySubscription {
    /// Id of the subscription.
    pub subscription_id: String,
    /// Id of the owner.
    pub owner_id: String,
    /// Chosen plan.
    pub plan: String,
    /// Plan in effect.
    pub effective_plan: String,
    /// Status from the shop.
    pub status: String,
    /// Workspaces that can still be created.
    pub workspaces_left: i64,
    /// Users who can still join.
    pub users_left: i64,
    /// Agents that can still be created.
    pub agents_left: i64,
    /// Documents that can still be added.
    pub documents_left: i64,
    /// Bytes of documents that can still be added.
    pub document_bytes_left: i64,
    /// Maximum model calls in 24 hours.
    pub requests_per_day: i64,
}

async fn mine(system: Helpmaton, call: FlowCall<Mine>) -> Result<MySubscription, FlowError> {
    let (by, _) = system.as_caller(&call.caller)?;
    let mine = system.subscription_of(&by.user_id).await?;
    let effective = effective_plan(&mine, system.now());
    Ok(MySubscription {
        subscription_id: mine.subscription_id.to_string(),
        owner_id: mine.user_id.to_string(),
        plan: mine.plan.to_string(),
        effective_plan: effective.to_string(),
        status: mine.status.to_string(),
        workspaces_left: mine.workspaces_left,
        users_left: mine.users_left,
        agents_left: mine.agents_left,
        documents_left: mine.documents_left,
        document_bytes_left: mine.document_bytes_left,
        requests_per_day: super::Limits::of(effective).requests_per_day,
    })
}

pub(super) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let about = "Returns the caller's subscription and what is left of its plan; creates one if needed.";
    application.flow(helpmaton.flow("mySubscription", about, mine).outcomes(&["UnknownUser"]))
}
