//! Messages of the shop about a subscription. They may arrive twice and late.

use keyform::Timestamp;
use keyform::flow::FlowError;
use keyform::runtime::run::RunError;

use super::plans::Limits;
use crate::Helpmaton;
use crate::model::{
    ChangePlanError, ChangePlanInput, ChangePlanOldPlan, SetStatusInput, Subscription, SubscriptionId,
    SubscriptionPlan, SubscriptionStatus,
};
use crate::notify::Notice;

const TRIES_MAX: u32 = 5;

impl Helpmaton {
    /// Puts a subscription on a plan that is paid from now on. Existing items stay; if they exceed the plan, nothing
    /// new can be created until they no longer do.
    ///
    /// # Errors
    /// Refused with `UnknownSubscription`, or the store fails.
    pub async fn put_on_plan(&self, id: &SubscriptionId, plan: SubscriptionPlan) -> Result<Subscription, FlowError> {
        self.move_to_plan(id, plan, SubscriptionStatus::Active).await
    }

    /// Cancels a subscription: it is free from now on.
    ///
    /// # Errors
    /// As for [`Helpmaton::put_on_plan`].
    pub async fn cancel(&self, id: &SubscriptionId) -> Result<Subscription, FlowError> {
        self.move_to_plan(id, SubscriptionPlan::Free, SubscriptionStatus::Cancelled).await
    }

    /// Sets the end of a subscription that will not be renewed; until then the plan is in force.
    ///
    /// # Errors
    /// The subscription does not exist, or the store fails.
    pub async fn end_at(&self, id: &SubscriptionId, end: Timestamp) -> Result<Subscription, FlowError> {
        let status = self.existing_subscription(id).await?.status;
        let input = SetStatusInput { ends_at: Some(end), ..SetStatusInput::new(id.clone(), status) };
        Ok(self.model.set_status(input).await?)
    }

    async fn move_to_plan(
        &self,
        id: &SubscriptionId,
        plan: SubscriptionPlan,
        status: SubscriptionStatus,
    ) -> Result<Subscription, FlowError> {
        for _ in 0..TRIES_MAX {
            let subscription = self.existing_subscription(id).await?;
            if subscription.plan == plan {
                return Ok(self.model.set_status(SetStatusInput::new(id.clone(), status)).await?);
            }
            match self.model.change_plan(change(&subscription, plan, status)).await {
                // A concurrent message was faster.
                Err(ChangePlanError::Conflict(_)) => {}
                changed => return Ok(changed?),
            }
        }
        Err(FlowError::Failed(RunError::Busy))
    }

    /// Records a failed payment. The plan continues for seven days from the first failure; the owner is notified once.
    ///
    /// # Errors
    /// The store fails.
    pub async fn note_failed_payment(&self, id: &SubscriptionId) -> Result<(), FlowError> {
        if let Some(subscription) = self.model.payment_failed(id).await? {
            let until = subscription.grace_period_ends_at.map(|end| end.to_string()).unwrap_or_default();
            self.tell_owner(&subscription, Notice::PaymentFailed { until }).await;
        }
        Ok(())
    }

    /// Records a payment: the plan is valid until its renewal. An older message has no effect.
    ///
    /// # Errors
    /// The store fails.
    pub async fn note_payment(&self, id: &SubscriptionId, renews_at: Timestamp) -> Result<(), FlowError> {
        self.model.payment_succeeded(id, renews_at).await?;
        Ok(())
    }

    /// Notifies the owner of a subscription.
    pub(crate) async fn tell_owner(&self, subscription: &Subscription, notice: Notice) {
        match self.model.user_by_id(&subscription.user_id).await {
            Ok(Some(owner)) => self.tell(&owner.email, notice).await,
            Ok(None) => tracing::warn!(id = %subscription.subscription_id, "a subscription has no owner"),
            Err(error) => tracing::warn!(id = %subscription.subscription_id, "cannot notify the owner: {error}"),
        }
    }
}

fn change(subscription: &Subscription, plan: SubscriptionPlan, status: SubscriptionStatus) -> ChangePlanInput {
    let limits = Limits::of(plan);
    let more = limits.less(Limits::of(subscription.plan));
    ChangePlanInput {
        subscription_id: subscription.subscription_id.clone(),
        old_plan: old_plan(subscription.plan),
        new_plan: plan,
        new_status: status,
        workspaces: more.workspaces,
        documents: more.documents,
        document_bytes: more.document_bytes,
        agents: more.agents,
        managers: more.managers,
        users: more.users,
        agent_keys: more.agent_keys,
        channels: more.channels,
        mcp_servers: more.mcp_servers,
        new_requests_per_day: limits.requests_per_day,
    }
}

fn old_plan(plan: SubscriptionPlan) -> ChangePlanOldPlan {
    match plan {
        SubscriptionPlan::Free => ChangePlanOldPlan::Free,
        SubscriptionPlan::Starter => ChangePlanOldPlan::Starter,
        SubscriptionPlan::Pro => ChangePlanOldPlan::Pro,
    }
}
