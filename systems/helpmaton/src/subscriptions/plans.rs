//! The plans: what each allows, and which one is in force.

use keyform::Timestamp;

use crate::model::{Subscription, SubscriptionPlan, SubscriptionStatus};

/// What a plan allows, over all workspaces of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Workspaces.
    pub workspaces: i64,
    /// Documents.
    pub documents: i64,
    /// Their bytes.
    pub document_bytes: i64,
    /// Agents.
    pub agents: i64,
    /// Managers, the owner included.
    pub managers: i64,
    /// People, the owner included: each counts once.
    pub users: i64,
    /// Keys of agents.
    pub agent_keys: i64,
    /// Output channels.
    pub channels: i64,
    /// MCP servers.
    pub mcp_servers: i64,
    /// Model calls in 24 hours.
    pub requests_per_day: i64,
}

const MIB: i64 = 1024 * 1024;
/// As good as no limit, and still a number that can be counted down.
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
    /// Of a plan.
    #[must_use]
    pub const fn of(plan: SubscriptionPlan) -> Self {
        match plan {
            SubscriptionPlan::Free => FREE,
            SubscriptionPlan::Starter => STARTER,
            SubscriptionPlan::Pro => PRO,
        }
    }

    /// What has to be added to what is left of the other plan.
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

/// The plan that is in force: the one that is paid, unless its time is over. Within the days of grace it stays.
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
