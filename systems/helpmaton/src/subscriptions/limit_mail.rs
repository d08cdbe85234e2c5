//! Notifies the owner about a reached limit, at most once in 24 hours.

use keyform::flow::FlowError;

use super::plans::effective_plan;
use crate::Helpmaton;
use crate::model::{ClaimLimitEmailError, SubscriptionId};
use crate::notify::Notice;

impl Helpmaton {
    /// Notifies the owner of a subscription that a limit of the plan is reached, unless that happened within the last
    /// 24 hours. Failures are logged: the refusal itself does not depend on the mail.
    pub async fn tell_limit(&self, subscription: &SubscriptionId, limit: &str) {
        if let Err(error) = self.try_to_tell_limit(subscription, limit).await {
            tracing::warn!(%subscription, limit, "cannot notify the owner of a limit: {error}");
        }
    }

    async fn try_to_tell_limit(&self, subscription: &SubscriptionId, limit: &str) -> Result<(), FlowError> {
        let claimed = match self.model.claim_limit_email(subscription).await {
            Err(ClaimLimitEmailError::SentRecently) => return Ok(()),
            claimed => claimed?,
        };
        let plan = effective_plan(&claimed, self.now()).to_string();
        self.tell_owner(&claimed, Notice::LimitReached { plan, limit: limit.to_owned() }).await;
        Ok(())
    }
}
