//! Hourly job: ends expired plans and releases unused seats.

use std::fmt;
use std::time::Duration;

use keyform::flow::{FlowError, Job};

use super::plans::{Limits, effective_plan};
use crate::Helpmaton;
use crate::model::{EndPlanError, EndPlanInput, EndPlanOldPlan, Subscription, SubscriptionPlan};
use crate::notify::Notice;

const HOUR: Duration = Duration::from_secs(3600);

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Upkeep {
    /// Number of ended plans.
    pub ended: u64,
    /// Number of released seats.
    pub released: u64,
}

impl fmt::Display for Upkeep {
    /// Writes nothing if nothing was done.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { ended: 0, released: 0 } => Ok(()),
            Self { ended, released } => write!(f, "ended {ended} plans, released {released} seats"),
        }
    }
}

impl Helpmaton {
    /// Checks all subscriptions. Can be interrupted and repeated at any point.
    ///
    /// # Errors
    /// The store fails.
    pub async fn keep_subscriptions(&self) -> Result<Upkeep, FlowError> {
        let mut done = Upkeep::default();
        let mut subscriptions = self.model.all_subscriptions().items();
        while let Some(subscription) = subscriptions.next().await {
            let subscription = subscription?;
            if self.end_plan_if_over(&subscription).await? {
                done.ended += 1;
            }
            done.released += self.release_unused_seats(&subscription).await?;
        }
        Ok(done)
    }

    /// Ends an expired plan; returns whether it did. The write checks again, so that a payment in between keeps the
    /// plan.
    async fn end_plan_if_over(&self, subscription: &Subscription) -> Result<bool, FlowError> {
        let Some(end) = end_of(subscription) else { return Ok(false) };
        if effective_plan(subscription, self.now()) != SubscriptionPlan::Free {
            return Ok(false);
        }
        match self.model.end_plan(end).await {
            Ok(ended) => {
                self.tell_owner(&ended, Notice::Downgraded).await;
                Ok(true)
            }
            Err(EndPlanError::Failed(error)) => Err(error.into()),
            Err(EndPlanError::StillPaid | EndPlanError::SamePlan | EndPlanError::Conflict(_)) => Ok(false),
        }
    }

    /// Releases seats that were taken for users who did not become members, because the program ended in between.
    async fn release_unused_seats(&self, subscription: &Subscription) -> Result<u64, FlowError> {
        let owner_alone = Limits::of(subscription.plan).users - 1;
        if subscription.users_left >= owner_alone {
            return Ok(0);
        }
        let mut released = 0;
        for seat in self.model.seats(&subscription.subscription_id).all().await? {
            // Newer seats may be about to be used.
            if seat.workspaces == 0 && seat.since < self.now() - HOUR && seat.member_id != subscription.user_id {
                released +=
                    u64::from(self.model.release_seat(&subscription.subscription_id, &seat.member_id).await.is_ok());
            }
        }
        Ok(released)
    }
}

/// Returns the change from a paid plan to the free one.
fn end_of(subscription: &Subscription) -> Option<EndPlanInput> {
    let old_plan = match subscription.plan {
        SubscriptionPlan::Free => return None,
        SubscriptionPlan::Starter => EndPlanOldPlan::Starter,
        SubscriptionPlan::Pro => EndPlanOldPlan::Pro,
    };
    let free = Limits::of(SubscriptionPlan::Free);
    let more = free.less(Limits::of(subscription.plan));
    Some(EndPlanInput {
        subscription_id: subscription.subscription_id.clone(),
        old_plan,
        workspaces: more.workspaces,
        documents: more.documents,
        document_bytes: more.document_bytes,
        agents: more.agents,
        managers: more.managers,
        users: more.users,
        agent_keys: more.agent_keys,
        channels: more.channels,
        mcp_servers: more.mcp_servers,
        new_requests_per_day: free.requests_per_day,
    })
}

pub(super) fn job(helpmaton: &Helpmaton) -> Job {
    let system = helpmaton.clone();
    Job::every(HOUR, "keepSubscriptions", move || {
        let system = system.clone();
        async move { system.keep_subscriptions().await.map(|done| done.to_string()) }
    })
}
