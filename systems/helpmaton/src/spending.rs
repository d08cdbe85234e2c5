//! Spending limits of a workspace and an agent per day, week and month.
//!
//! Spending is stored by day (UTC), reservations included. A week is today and the six days before, a month today and
//! the 29 days before. All limits are checked, and all exceeded ones are reported together. The remaining room for
//! today becomes a condition of the reservation, so that concurrent calls cannot exceed a limit together.

use std::fmt;

use keyform::flow::{Flow, FlowCall, FlowError};
use keyform::{CallError, Date, Money, application::Application};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    Agent, AgentId, AgentSpendingLimits, SetAgentSpendingLimitsError, SetAgentSpendingLimitsInput,
    SetSpendingLimitsError, SetSpendingLimitsInput, Workspace, WorkspaceId, WorkspaceSpendingLimits,
};
use crate::{Helpmaton, model};

/// Attempts of a change against concurrent changes.
const TRIES_MAX: usize = 10;
/// No limit.
const UNLIMITED: Money = Money::of_nanos(i64::MAX as i128);

/// Owner of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Limit of the workspace.
    Workspace,
    /// Limit of the agent.
    Agent,
}

/// Period of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimeFrame {
    /// The current day.
    Daily,
    /// The current day and the six days before.
    Weekly,
    /// The current day and the 29 days before.
    Monthly,
}

impl TimeFrame {
    const ALL: [Self; 3] = [Self::Daily, Self::Weekly, Self::Monthly];

    fn first_day(self, today: Date) -> Date {
        let days = match self {
            Self::Daily => 1,
            Self::Weekly => 7,
            Self::Monthly => 30,
        };
        Date::of_days(today.days() - days + 1)
    }
}

/// Limits of a workspace or an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Limit for today.
    pub daily: Option<Money>,
    /// Limit for today and the six days before.
    pub weekly: Option<Money>,
    /// Limit for today and the 29 days before.
    pub monthly: Option<Money>,
}

impl Limits {
    fn get(self, frame: TimeFrame) -> Option<Money> {
        match frame {
            TimeFrame::Daily => self.daily,
            TimeFrame::Weekly => self.weekly,
            TimeFrame::Monthly => self.monthly,
        }
    }

    fn with(mut self, frame: TimeFrame, amount: Option<Money>) -> Self {
        match frame {
            TimeFrame::Daily => self.daily = amount,
            TimeFrame::Weekly => self.weekly = amount,
            TimeFrame::Monthly => self.monthly = amount,
        }
        self
    }

    /// Returns `None` if no limit is set, so that no attribute is stored.
    fn if_any<L: From<Self>>(self) -> Option<L> {
        (self != Self::default()).then(|| self.into())
    }
}

macro_rules! limits {
    ($($of:ident),*) => {$(
        impl From<&Option<$of>> for Limits {
            fn from(limits: &Option<$of>) -> Self {
                let limits = limits.as_ref();
                Self {
                    daily: limits.and_then(|limits| limits.daily),
                    weekly: limits.and_then(|limits| limits.weekly),
                    monthly: limits.and_then(|limits| limits.monthly),
                }
            }
        }

        impl From<Limits> for $of {
            fn from(Limits { daily, weekly, monthly }: Limits) -> Self {
                Self { daily, weekly, monthly }
            }
        }
    )*};
}

limits!(WorkspaceSpendingLimits, AgentSpendingLimits);

/// Limit that a call would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FailedLimit {
    /// Scope of the limit.
    pub scope: Scope,
    /// Period of the limit.
    pub time_frame: TimeFrame,
    /// Maximum amount in the period.
    pub limit: Money,
    /// Amount spent and reserved in the period.
    pub spent: Money,
    /// Amount that the call would add.
    pub amount: Money,
}

impl fmt::Display for FailedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scope = match self.scope {
            Scope::Workspace => "workspace",
            Scope::Agent => "agent",
        };
        let frame = match self.time_frame {
            TimeFrame::Daily => "daily",
            TimeFrame::Weekly => "weekly",
            TimeFrame::Monthly => "monthly",
        };
        write!(f, "{scope}, {frame}: {} spent plus {} exceed the limit of {}", self.spent, self.amount, self.limit)
    }
}

/// Result of checking an amount against the limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluated {
    /// Exceeded limits; empty if the amount may be spent.
    pub failed: Vec<FailedLimit>,
    /// Maximum that the workspace may have spent today before the amount.
    pub workspace_room: Money,
    /// Maximum that the agent may have spent today before the amount.
    pub agent_room: Money,
}

/// Spending of a scope by day.
type Days = Vec<(Date, Money)>;

/// Checks an amount to be spent today against all limits of a workspace and an agent.
///
/// # Errors
/// The spending cannot be read.
pub async fn evaluate(
    helpmaton: &Helpmaton,
    workspace: &Workspace,
    agent: &Agent,
    amount: Money,
) -> Result<Evaluated, CallError> {
    let today = helpmaton.now().date();
    let (of_workspace, of_agent) = (Limits::from(&workspace.spending_limits), Limits::from(&agent.spending_limits));
    let mut failed = Vec::new();
    let days = days_of_workspace(helpmaton, workspace, of_workspace, today).await?;
    let workspace_room = room(Scope::Workspace, of_workspace, &days, today, amount, &mut failed);
    let days = days_of_agent(helpmaton, agent, of_agent, today).await?;
    let agent_room = room(Scope::Agent, of_agent, &days, today, amount, &mut failed);
    Ok(Evaluated { failed, workspace_room, agent_room })
}

/// Returns the first day that a limit covers. Without limits nothing is read.
fn first_day(limits: Limits, today: Date) -> Option<Date> {
    let frames = TimeFrame::ALL.into_iter().filter(|&frame| limits.get(frame).is_some());
    frames.map(|frame| frame.first_day(today)).min()
}

async fn days_of_workspace(
    helpmaton: &Helpmaton,
    workspace: &Workspace,
    limits: Limits,
    today: Date,
) -> Result<Days, CallError> {
    let Some(first) = first_day(limits, today) else { return Ok(Vec::new()) };
    let rows = helpmaton.model.workspace_spending(&workspace.workspace_id, first, today).await?;
    Ok(rows.into_iter().map(|row| (row.day, row.spent)).collect())
}

async fn days_of_agent(helpmaton: &Helpmaton, agent: &Agent, limits: Limits, today: Date) -> Result<Days, CallError> {
    let Some(first) = first_day(limits, today) else { return Ok(Vec::new()) };
    let rows = helpmaton.model.agent_spending(&agent.workspace_id, &agent.agent_id, first, today).await?;
    Ok(rows.into_iter().map(|row| (row.day, row.spent)).collect())
}

/// Returns the maximum that may have been spent today before the amount, by the tightest limit; adds exceeded limits to
/// `failed`.
fn room(scope: Scope, limits: Limits, days: &Days, today: Date, amount: Money, failed: &mut Vec<FailedLimit>) -> Money {
    let mut tightest = UNLIMITED;
    for time_frame in TimeFrame::ALL {
        let Some(limit) = limits.get(time_frame) else { continue };
        let first = time_frame.first_day(today);
        let sum = |within: &dyn Fn(Date) -> bool| -> Money {
            days.iter().filter(|(day, _)| within(*day)).map(|(_, spent)| *spent).sum()
        };
        let spent = sum(&|day| day >= first);
        if spent + amount > limit {
            failed.push(FailedLimit { scope, time_frame, limit, spent, amount });
        }
        tightest = tightest.min(limit - sum(&|day| day >= first && day < today) - amount);
    }
    tightest
}

/// Reason why limits were not changed.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeLimitError {
    /// The workspace does not exist.
    UnknownWorkspace,
    /// The agent does not exist.
    UnknownAgent,
    /// There is no limit for that period.
    NoSuchLimit,
    /// The amount is below zero.
    Negative,
    /// Too many concurrent changes of the same item.
    Conflict,
    /// A call failed.
    Failed(CallError),
}

impl fmt::Display for ChangeLimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownWorkspace => f.write_str("unknown workspace"),
            Self::UnknownAgent => f.write_str("unknown agent"),
            Self::NoSuchLimit => f.write_str("no limit for this period: set one"),
            Self::Negative => f.write_str("a limit cannot be below zero"),
            Self::Conflict => f.write_str("concurrent changes of the same item: try again"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ChangeLimitError {}

impl From<CallError> for ChangeLimitError {
    fn from(error: CallError) -> Self {
        Self::Failed(error)
    }
}

impl From<ChangeLimitError> for FlowError {
    fn from(error: ChangeLimitError) -> Self {
        let detail = error.to_string();
        match error {
            ChangeLimitError::UnknownWorkspace => Self::refused("UnknownWorkspace", detail),
            ChangeLimitError::UnknownAgent => Self::refused("UnknownAgent", detail),
            ChangeLimitError::NoSuchLimit => Self::refused("NoSuchLimit", detail),
            ChangeLimitError::Negative => Self::Arguments(detail),
            ChangeLimitError::Conflict => Self::Failed(keyform::runtime::run::RunError::Busy),
            ChangeLimitError::Failed(error) => error.into(),
        }
    }
}

/// Owner of a limit: a workspace, or an agent in it.
#[derive(Clone, Debug)]
pub struct Whose {
    /// Workspace of the limit.
    pub workspace_id: WorkspaceId,
    /// Agent of the limit; `None` for a limit of the workspace.
    pub agent_id: Option<AgentId>,
}

/// Sets or replaces a limit. `model` is the caller's handle.
///
/// # Errors
/// [`ChangeLimitError`]
pub async fn set(
    model: &model::Helpmaton,
    whose: &Whose,
    frame: TimeFrame,
    amount: Money,
) -> Result<Limits, ChangeLimitError> {
    let amount = not_negative(amount)?;
    change(model, whose, |limits| Ok(limits.with(frame, Some(amount)))).await
}

/// Changes an existing limit.
///
/// # Errors
/// [`ChangeLimitError::NoSuchLimit`] if it does not exist; otherwise another [`ChangeLimitError`].
pub async fn update(
    model: &model::Helpmaton,
    whose: &Whose,
    frame: TimeFrame,
    amount: Money,
) -> Result<Limits, ChangeLimitError> {
    let amount = not_negative(amount)?;
    change(model, whose, |limits| match limits.get(frame) {
        Some(_) => Ok(limits.with(frame, Some(amount))),
        None => Err(ChangeLimitError::NoSuchLimit),
    })
    .await
}

/// Removes a limit, if it exists.
///
/// # Errors
/// [`ChangeLimitError`]
pub async fn remove(model: &model::Helpmaton, whose: &Whose, frame: TimeFrame) -> Result<Limits, ChangeLimitError> {
    change(model, whose, |limits| Ok(limits.with(frame, None))).await
}

fn not_negative(amount: Money) -> Result<Money, ChangeLimitError> {
    if amount < Money::ZERO { Err(ChangeLimitError::Negative) } else { Ok(amount) }
}

/// Reads, changes and writes limits; retries after a concurrent change.
async fn change(
    model: &model::Helpmaton,
    whose: &Whose,
    by: impl Fn(Limits) -> Result<Limits, ChangeLimitError>,
) -> Result<Limits, ChangeLimitError> {
    for _ in 0..TRIES_MAX {
        let changed = match &whose.agent_id {
            None => change_workspace(model, &whose.workspace_id, &by).await?,
            Some(agent) => change_agent(model, &whose.workspace_id, agent, &by).await?,
        };
        if let Some(limits) = changed {
            return Ok(limits);
        }
    }
    Err(ChangeLimitError::Conflict)
}

async fn change_workspace(
    model: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    by: &impl Fn(Limits) -> Result<Limits, ChangeLimitError>,
) -> Result<Option<Limits>, ChangeLimitError> {
    let found = model.workspace_by_id(workspace_id).await?.ok_or(ChangeLimitError::UnknownWorkspace)?;
    let (old, version) = (Limits::from(&found.spending_limits), found.version);
    let new = by(old)?;
    if new == old {
        return Ok(Some(new));
    }
    let input = SetSpendingLimitsInput {
        spending_limits: new.if_any(),
        ..SetSpendingLimitsInput::new(workspace_id.clone(), version)
    };
    match model.set_spending_limits(input).await {
        Ok(_) => Ok(Some(new)),
        Err(SetSpendingLimitsError::Conflict(_)) => Ok(None),
        Err(SetSpendingLimitsError::Failed(error)) => Err(error.into()),
    }
}

async fn change_agent(
    model: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    by: &impl Fn(Limits) -> Result<Limits, ChangeLimitError>,
) -> Result<Option<Limits>, ChangeLimitError> {
    let found = model.agent_by_id(workspace_id, agent_id).await?.ok_or(ChangeLimitError::UnknownAgent)?;
    let (old, version) = (Limits::from(&found.spending_limits), found.version);
    let new = by(old)?;
    if new == old {
        return Ok(Some(new));
    }
    let input = SetAgentSpendingLimitsInput {
        spending_limits: new.if_any(),
        ..SetAgentSpendingLimitsInput::new(workspace_id.clone(), agent_id.clone(), version)
    };
    match model.set_agent_spending_limits(input).await {
        Ok(_) => Ok(Some(new)),
        Err(SetAgentSpendingLimitsError::Conflict(_)) => Ok(None),
        Err(SetAgentSpendingLimitsError::Failed(error)) => Err(error.into()),
    }
}

/// Identifies a limit, and its amount.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LimitArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Id of the agent, for a limit of an agent.
    #[schemars(with = "Option<String>")]
    agent_id: Option<AgentId>,
    /// Period of the limit.
    time_frame: TimeFrame,
    /// Amount in nano-units of the workspace's currency.
    #[schemars(with = "Option<i64>")]
    amount: Option<Money>,
}

/// Current limits in nano-units.
#[derive(Debug, Serialize, JsonSchema)]
struct LimitsAnswer {
    /// Limit of a day.
    #[schemars(with = "Option<i64>")]
    daily: Option<Money>,
    /// Limit of seven days.
    #[schemars(with = "Option<i64>")]
    weekly: Option<Money>,
    /// Limit of 30 days.
    #[schemars(with = "Option<i64>")]
    monthly: Option<Money>,
}

impl From<Limits> for LimitsAnswer {
    fn from(Limits { daily, weekly, monthly }: Limits) -> Self {
        Self { daily, weekly, monthly }
    }
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let setting = helpmaton.clone();
    let set = move |call: FlowCall<LimitArguments>| {
        let helpmaton = setting.clone();
        async move {
            let (_, model) = helpmaton.as_caller(&call.caller)?;
            let LimitArguments { workspace_id, agent_id, time_frame, amount } = call.arguments;
            let whose = Whose { workspace_id, agent_id };
            let amount = amount.ok_or_else(|| FlowError::Arguments("`amount` is required".to_owned()))?;
            Ok(LimitsAnswer::from(set(&model, &whose, time_frame, amount).await?))
        }
    };
    let removing = helpmaton.clone();
    let remove = move |call: FlowCall<LimitArguments>| {
        let helpmaton = removing.clone();
        async move {
            let (_, model) = helpmaton.as_caller(&call.caller)?;
            let LimitArguments { workspace_id, agent_id, time_frame, .. } = call.arguments;
            Ok(LimitsAnswer::from(remove(&model, &Whose { workspace_id, agent_id }, time_frame).await?))
        }
    };
    const OUTCOMES: &[&str] = &["UnknownWorkspace", "UnknownAgent"];
    application
        .flow(Flow::new("limitSpending", "Sets a spending limit of a workspace or an agent.", set).outcomes(OUTCOMES))
        .flow(Flow::new("unlimitSpending", "Removes a spending limit.", remove).outcomes(OUTCOMES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(units: i64) -> Money {
        Money::of_units(units)
    }

    #[test]
    fn every_limit_is_looked_at_and_the_tightest_one_counts() {
        let today = Date::of_days(20_000);
        let ago = |days: i64, units: i64| (Date::of_days(20_000 - days), unit(units));
        let days = vec![ago(0, 2), ago(3, 5), ago(10, 20), ago(30, 100)];
        let limits = Limits { daily: Some(unit(4)), weekly: Some(unit(10)), monthly: Some(unit(100)) };
        let mut failed = Vec::new();
        assert_eq!(room(Scope::Agent, limits, &days, today, unit(2), &mut failed), unit(2));
        assert_eq!(failed, []);
        assert_eq!(room(Scope::Agent, limits, &days, today, unit(4), &mut failed), unit(0));
        let frames: Vec<_> = failed.iter().map(|failed| (failed.time_frame, failed.spent)).collect();
        assert_eq!(frames, [(TimeFrame::Daily, unit(2)), (TimeFrame::Weekly, unit(7))]);
        assert_eq!(failed[0].to_string(), "agent, daily: 2 spent plus 4 exceed the limit of 4");
        assert_eq!(room(Scope::Agent, Limits::default(), &days, today, unit(4), &mut failed), UNLIMITED);
    }
}
