//! Limit on a subscription's model calls in 24 hours.
//!
//! Calls are counted per hour; the plan's limit applies to the current hour and the 23 before it.
//!
//! ```text
//! … | 9 h: 12 | 10 h: 30 | 11 h: 7 | 12 h: 3 ◀ counted here if 12 + 30 + 7 + … + 3 < the plan's number
//! ```
//!
//! With a strict limit, a call is counted before it is made, on the condition that there is room: the limit is never
//! exceeded. Counting in an hour closes the hour before, so that concurrent calls around the full hour cannot use the
//! same room twice. With a soft limit, a call is counted after it was made, and concurrent calls may exceed the limit.

use std::time::Duration;

use keyform::Timestamp;
use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError};
use keyform::runtime::run::RunError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{LlmRequestBucket, SubscriptionId, TakeRequestError, TakeRequestInput};
use crate::subscriptions::{Limits, effective_plan};
use crate::{Helpmaton, RequestLimit};

const HOUR_MILLIS: i64 = 3_600_000;
const HOUR: Duration = Duration::from_secs(3600);
/// Hours before the current one that count with it.
const HOURS_BEFORE: u32 = 23;
const TRIES_MAX: u32 = 6;

impl Helpmaton {
    /// Admits or refuses a model call. A strict limit counts it now; a soft one in [`Helpmaton::request_made`].
    ///
    /// # Errors
    /// Refused with `RequestLimitReached` or `UnknownSubscription`, or the store fails.
    pub async fn admit_request(&self, subscription: &SubscriptionId) -> Result<(), FlowError> {
        let max = self.requests_per_day(subscription).await?;
        let admitted = match self.settings().request_limit {
            RequestLimit::Strict => self.take(subscription, max).await,
            RequestLimit::Soft => self.look(subscription, max).await,
        };
        self.told_if_reached(subscription, admitted).await
    }

    /// Notifies the owner if the limit is reached; returns the answer unchanged.
    async fn told_if_reached(
        &self,
        subscription: &SubscriptionId,
        answer: Result<(), FlowError>,
    ) -> Result<(), FlowError> {
        if matches!(&answer, Err(FlowError::Refused { outcome, .. }) if outcome == LIMIT_REACHED) {
            self.tell_limit(subscription, "requests").await;
        }
        answer
    }

    /// Refuses a call without room, and counts nothing.
    pub(crate) async fn look_at_request_limit(&self, subscription: &SubscriptionId) -> Result<(), FlowError> {
        let max = self.requests_per_day(subscription).await?;
        let looked = self.look(subscription, max).await;
        self.told_if_reached(subscription, looked).await
    }

    /// Records that an admitted call was made.
    ///
    /// # Errors
    /// The store fails.
    pub async fn request_made(&self, subscription: &SubscriptionId) -> Result<(), FlowError> {
        if self.settings().request_limit == RequestLimit::Soft {
            self.model.count_request(subscription, hour_of(self.now())).await?;
        }
        Ok(())
    }

    /// Returns the number of calls in the current hour and the 23 before it.
    ///
    /// # Errors
    /// The store fails.
    pub async fn requests_of_day(&self, subscription: &SubscriptionId) -> Result<i64, FlowError> {
        let hour = hour_of(self.now());
        let buckets = self.model.buckets_for_subscription(subscription, hour - HOUR * HOURS_BEFORE, hour).await?;
        Ok(total(&buckets))
    }

    /// Returns the limit of the plan in force.
    async fn requests_per_day(&self, subscription: &SubscriptionId) -> Result<i64, FlowError> {
        let subscription = self.existing_subscription(subscription).await?;
        let plan = effective_plan(&subscription, self.now());
        Ok(if plan == subscription.plan { subscription.requests_per_day } else { Limits::of(plan).requests_per_day })
    }

    async fn look(&self, subscription: &SubscriptionId, max: i64) -> Result<(), FlowError> {
        if self.requests_of_day(subscription).await? < max { Ok(()) } else { Err(limit_reached()) }
    }

    async fn take(&self, subscription: &SubscriptionId, max: i64) -> Result<(), FlowError> {
        let mut hour = hour_of(self.now());
        for _ in 0..TRIES_MAX {
            match self.model.take_request(self.room(subscription, hour, max).await?).await {
                Err(TakeRequestError::RequestLimitReached) => return Err(limit_reached()),
                Err(TakeRequestError::HourChanged) => {}
                // The next hour has started on another machine's clock.
                Err(TakeRequestError::HourOver) => hour = hour + HOUR,
                taken => return Ok(taken?),
            }
        }
        Err(FlowError::Failed(RunError::Busy))
    }

    /// Returns the room in an hour. Older hours come from the index; the previous hour is read directly and checked
    /// again when the call is counted.
    async fn room(
        &self,
        subscription: &SubscriptionId,
        hour: Timestamp,
        max: i64,
    ) -> Result<TakeRequestInput, FlowError> {
        let (before, after) = (hour - HOUR, hour + HOUR);
        let old = self.model.buckets_for_subscription(subscription, hour - HOUR * HOURS_BEFORE, before - HOUR).await?;
        let count_before = self.model.bucket(subscription, before).await?.map_or(0, |bucket| bucket.count);
        Ok(TakeRequestInput {
            subscription_id: subscription.clone(),
            hour_timestamp: hour,
            before,
            after,
            count_before,
            remaining: max - total(&old) - count_before,
        })
    }
}

fn total(buckets: &[LlmRequestBucket]) -> i64 {
    buckets.iter().map(|bucket| bucket.count).sum()
}

fn hour_of(time: Timestamp) -> Timestamp {
    Timestamp::of_millis(time.millis() - time.millis().rem_euclid(HOUR_MILLIS))
}

const LIMIT_REACHED: &str = "RequestLimitReached";

fn limit_reached() -> FlowError {
    FlowError::refused(
        LIMIT_REACHED,
        "the plan's limit of model calls in 24 hours is reached: try again in an hour, or choose a larger plan",
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Requests {
    #[schemars(with = "String")]
    subscription_id: SubscriptionId,
}

/// The model calls of the last 24 hours.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Used {
    /// Calls made or permitted.
    used: i64,
    /// Limit of the current plan.
    max: i64,
}

async fn requests(system: Helpmaton, call: FlowCall<Requests>) -> Result<Used, FlowError> {
    let (_, model) = system.as_caller(&call.caller)?;
    let id = call.arguments.subscription_id;
    // Checks that the caller is a manager.
    model.subscription_by_id(&id).await?;
    Ok(Used { used: system.requests_of_day(&id).await?, max: system.requests_per_day(&id).await? })
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let about = "Returns the number of model calls of a subscription in 24 hours, and its limit.";
    application.flow(helpmaton.flow("requestsOfDay", about, requests).outcomes(&["UnknownSubscription"]))
}
