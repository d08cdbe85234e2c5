//! Plans: their limits, and the one in force.

use keyform::Timestamp;

use crate::model::{Subscription, SubscriptionPlan, SubscriptionStatus};

/// Limits of a plan, over all workspaces of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of workspaces.
    pub workspaces: i64,
    /// Maximum number of documents.
    pub documents: i64,
    /// Maximum total bytes of documents.
    pub document_bytes: i64,
    /// Maximum number of agents.
    pub agents: i64,
    /// Maximum number of managers, including the owner.
    pub managers: i64,
    /// Maximum number of distinct users, including the owner.
    pub users: i64,
    /// Maximum number of agent keys.
    pub agent_keys: i64,
    /// Maximum number of output channels.
    pub channels: i64,
    /// Maximum number of MCP servers.
    pub mcp_servers: i64,
    /// Maximum number of model calls in 24 hours.
    pub requests_per_day: i64,
}

const MIB: i64 = 1024 * 1024;
/// Effectively no limit, but a number that can be counted down.
const UNLIMITED: i64 = 1_000_000_000;

const FREE: Limits = Limits {
    workspaces: 1,
    documents: 10,
    document_bytes: MIB,
    agents: 1,
    managers: 1,
    users: 1,
    agent_keys: 5,
    channels: 2,
    mcp_servers: 2,
    requests_per_day: 50,
};

const STARTER: Limits = Limits {
    workspaces: 1,
    documents: 100,
    document_bytes: 10 * MIB,
    agents: 5,
    managers: 1,
    users: 1,
    agent_keys: 25,
    channels: 10,
    mcp_servers: 10,
    requests_per_day: 2_500,
};

const PRO: Limits = Limits {
    workspaces: 5,
    documents: 1_000,
    document_bytes: 100 * MIB,
    agents: 50,
    managers: UNLIMITED,
    users: 5,
    agent_keys: 250,
    channels: 50,
    mcp_servers: 50,
    requests_per_day: 25_000,
};

impl Limits {
    /// Returns the limits of a plan.
    #[must_use]
    pub const fn of(plan: SubscriptionPlan) -> Self {
        match plan {
            SubscriptionPlan::Free => FREE,
            SubscriptionPlan::Starter => STARTER,
            SubscriptionPlan::Pro => PRO,
        }
    }

    /// Returns the difference to another plan, which is added to the remaining amounts when the plan changes.
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self {
            workspaces: self.workspaces - other.workspaces,
            documents: self.documents - other.documents,
            document_bytes: self.document_bytes - other.document_bytes,
            agents: self.agents - other.agents,
            managers: self.managers - other.managers,
            users: self.users - other.users,
            agent_keys: self.agent_keys - other.agent_keys,
            channels: self.channels - other.channels,
            mcp_servers: self.mcp_servers - other.mcp_servers,
            requests_per_day: self.requests_per_day - other.requests_per_day,
        }
    }
}

/// Returns the plan in force: the paid one, unless it has ended. It continues during the grace period.
#[must_use]
pub fn effective_plan(subscription: &Subscription, now: Timestamp) -> SubscriptionPlan {
    use SubscriptionStatus::{Active, Cancelled, Expired, OnTrial, PastDue, Unpaid};
    let paid = match subscription.status {
        Active | PastDue | OnTrial => true,
        Cancelled | Expired | Unpaid => false,
    };
    let is_over = |end: Option<Timestamp>| end.is_some_and(|end| end <= now);
    if paid && !is_over(subscription.ends_at) && !is_over(subscription.grace_period_ends_at) {
        subscription.plan
    } else {
        SubscriptionPlan::Free
    }
}
