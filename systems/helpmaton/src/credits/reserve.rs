//! Reserves credit before a model is called.

use std::fmt;

use keyform::flow::FlowError;
use keyform::runtime::run::RunError;
use keyform::{CallError, Epoch, Money};

use super::estimate::{PlannedCall, estimate};
use crate::model::{
    Agent, AgentId, CreditReservation, CreditReservationId, ReserveCreditsError, ReserveCreditsInput, Workspace,
    WorkspaceId,
};
use crate::prices::{Cost, Tokens};
use crate::spending::{self, Evaluated, FailedLimit};
use crate::{Helpmaton, RequestLimit, agents, provider_keys};

/// Lifetime of a reservation: the duration of the longest call.
const RESERVED_SECS: i64 = 900;
const HOUR_SECS: i64 = 3600;
/// Attempts to pass the limits against concurrent spending.
const TRIES_MAX: usize = 8;

/// Call that is about to be made.
#[derive(Clone, Debug)]
pub struct Reserve {
    /// Id of the reservation. A repeated request has the same id and reserves nothing again.
    pub reservation_id: CreditReservationId,
    /// Workspace that pays.
    pub workspace_id: WorkspaceId,
    /// Agent that calls.
    pub agent_id: AgentId,
    /// Messages of the call.
    pub messages: Vec<serde_json::Value>,
    /// Tools in addition to the agent's own.
    pub tools: Vec<serde_json::Value>,
}

/// Result of a reservation.
#[derive(Clone, Debug, PartialEq)]
pub enum Reserved {
    /// The workspace has its own provider key and pays the provider directly.
    Byok {
        /// Estimated cost of the call.
        estimate: Cost,
    },
    /// Credit is reserved.
    Credit(Box<CreditReservation>),
}

/// Reason why nothing was reserved.
#[derive(Clone, Debug, PartialEq)]
pub enum ReserveError {
    /// The workspace does not exist.
    UnknownWorkspace,
    /// The workspace has no such agent.
    UnknownAgent,
    /// The workspace is being removed.
    WorkspaceGone,
    /// The model has no price, so the cost cannot be estimated.
    UnknownModel(String),
    /// The plan's number of calls in 24 hours is reached.
    RequestLimitReached,
    /// All spending limits that the call would exceed.
    SpendingLimits(Vec<FailedLimit>),
    /// The balance is too low.
    InsufficientCredits {
        /// Estimated cost of the call.
        required: Money,
        /// Current balance.
        available: Money,
    },
    /// The id belongs to another reservation.
    ReservationExists,
    /// A call failed.
    Failed(CallError),
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownWorkspace => f.write_str("unknown workspace"),
            Self::UnknownAgent => f.write_str("unknown agent of the workspace"),
            Self::WorkspaceGone => f.write_str("the workspace is being deleted"),
            Self::UnknownModel(name) => write!(f, "the model `{name}` has no price: choose one that has"),
            Self::RequestLimitReached => f.write_str("the plan's limit of calls in 24 hours is reached"),
            Self::SpendingLimits(failed) => {
                let failed: Vec<String> = failed.iter().map(FailedLimit::to_string).collect();
                f.write_str(&failed.join("; "))
            }
            Self::InsufficientCredits { required, available } => {
                write!(f, "{required} required, but only {available} available")
            }
            Self::ReservationExists => f.write_str("the id belongs to another reservation"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReserveError {}

impl From<CallError> for ReserveError {
    fn from(error: CallError) -> Self {
        Self::Failed(error)
    }
}

impl From<ReserveError> for FlowError {
    fn from(error: ReserveError) -> Self {
        let detail = error.to_string();
        match error {
            ReserveError::UnknownWorkspace => Self::refused("UnknownWorkspace", detail),
            ReserveError::UnknownAgent => Self::refused("UnknownAgent", detail),
            ReserveError::WorkspaceGone => Self::refused("WorkspaceGone", detail),
            ReserveError::UnknownModel(_) => Self::refused("UnknownModel", detail),
            ReserveError::RequestLimitReached => Self::refused("RequestLimitReached", detail),
            ReserveError::SpendingLimits(_) => Self::refused("SpendingLimitReached", detail),
            ReserveError::InsufficientCredits { .. } => Self::refused("InsufficientCredits", detail),
            ReserveError::ReservationExists => Self::refused("ReservationExists", detail),
            ReserveError::Failed(error) => error.into(),
        }
    }
}

/// Data of a call: workspace, agent and estimated cost.
struct Known {
    workspace: Workspace,
    agent: Agent,
    cost: Option<Cost>,
}

/// Reserves the estimated cost of a call. Checks the request limit, the spending limits and the balance, in this order.
///
/// # Errors
/// [`ReserveError`]; nothing is reserved then.
pub async fn reserve(helpmaton: &Helpmaton, call: &Reserve) -> Result<Reserved, ReserveError> {
    if let Some(reserved) = reserved_before(helpmaton, call).await? {
        return Ok(reserved);
    }
    let known = known(helpmaton, call).await?;
    helpmaton.look_at_request_limit(&known.workspace.subscription_id).await.map_err(of_request_limit)?;
    let reserved = match paid_by_themselves(helpmaton, &known).await? {
        true => Reserved::Byok { estimate: known.cost.unwrap_or_default() },
        false => with_credit(helpmaton, call, &known).await?,
    };
    match count_request(helpmaton, &known.workspace).await.map_err(of_request_limit) {
        Ok(()) => Ok(reserved),
        Err(refused) => give_back(helpmaton, &reserved, refused).await,
    }
}

/// Counts the request after all other checks passed.
async fn count_request(helpmaton: &Helpmaton, workspace: &Workspace) -> Result<(), FlowError> {
    match helpmaton.settings().request_limit {
        RequestLimit::Strict => helpmaton.admit_request(&workspace.subscription_id).await,
        RequestLimit::Soft => helpmaton.request_made(&workspace.subscription_id).await,
    }
}

/// Returns the estimated tokens and cost of a call; the cost is `None` if its model has no price.
///
/// # Errors
/// The workspace or the agent does not exist.
pub async fn estimated(helpmaton: &Helpmaton, call: &Reserve) -> Result<(Tokens, Option<Cost>), ReserveError> {
    let agent = agent(helpmaton, call).await?;
    let tokens = estimate(&planned(call, &agent));
    Ok((tokens, cost(helpmaton, &agent, tokens)))
}

async fn agent(helpmaton: &Helpmaton, call: &Reserve) -> Result<Agent, ReserveError> {
    let agent = helpmaton.model.agent_by_id(&call.workspace_id, &call.agent_id).await?;
    agent.ok_or(ReserveError::UnknownAgent)
}

fn cost(helpmaton: &Helpmaton, agent: &Agent, tokens: Tokens) -> Option<Cost> {
    helpmaton.settings().prices.cost(agents::model_name(agent), tokens, helpmaton.now().date())
}

fn planned(call: &Reserve, agent: &Agent) -> PlannedCall {
    let own = agent.client_tools.iter().flatten().filter_map(|tool| serde_json::to_value(tool).ok());
    PlannedCall {
        system_prompt: agent.system_prompt.clone(),
        messages: call.messages.clone(),
        tools: own.chain(call.tools.iter().cloned()).collect(),
        output_tokens_max: agent.max_output_tokens.and_then(|tokens| u32::try_from(tokens).ok()),
    }
}

async fn known(helpmaton: &Helpmaton, call: &Reserve) -> Result<Known, ReserveError> {
    let workspace = helpmaton.model.workspace_by_id(&call.workspace_id).await?;
    let workspace = workspace.ok_or(ReserveError::UnknownWorkspace)?;
    let agent = agent(helpmaton, call).await?;
    let cost = cost(helpmaton, &agent, estimate(&planned(call, &agent)));
    Ok(Known { workspace, agent, cost })
}

async fn paid_by_themselves(helpmaton: &Helpmaton, known: &Known) -> Result<bool, ReserveError> {
    let provider = provider_keys::provider_of(known.agent.provider);
    Ok(provider_keys::has_key(&helpmaton.model, &known.workspace.workspace_id, provider).await?)
}

/// Returns the reservation with this id, if the request is a repeated one.
async fn reserved_before(helpmaton: &Helpmaton, call: &Reserve) -> Result<Option<Reserved>, ReserveError> {
    match helpmaton.model.reservation_by_id(&call.reservation_id).await? {
        None => Ok(None),
        Some(found) if found.workspace_id == call.workspace_id && found.agent_id == call.agent_id => {
            Ok(Some(Reserved::Credit(Box::new(found))))
        }
        Some(_) => Err(ReserveError::ReservationExists),
    }
}

/// Reserves credit within the limits. Checks the limits again after losing to concurrent spending.
async fn with_credit(helpmaton: &Helpmaton, call: &Reserve, known: &Known) -> Result<Reserved, ReserveError> {
    let no_price = || ReserveError::UnknownModel(agents::model_name(&known.agent).to_owned());
    let cost = known.cost.ok_or_else(no_price)?;
    let mut workspace = known.workspace.clone();
    for _ in 0..TRIES_MAX {
        let amount = cost.of(workspace.currency.into());
        let evaluated = spending::evaluate(helpmaton, &workspace, &known.agent, amount).await?;
        if !evaluated.failed.is_empty() {
            return Err(ReserveError::SpendingLimits(evaluated.failed));
        }
        match helpmaton.model.reserve_credits(input(helpmaton, call, amount, &evaluated)).await {
            Ok(Some(reservation)) => return Ok(Reserved::Credit(Box::new(reservation))),
            Ok(None) => {
                let before = reserved_before(helpmaton, call).await?;
                return before.ok_or(ReserveError::Failed(CallError::Gone));
            }
            Err(error) => refusal(error, amount, &workspace)?,
        }
        let again = helpmaton.model.workspace_by_id(&call.workspace_id).await?;
        workspace = again.ok_or(ReserveError::UnknownWorkspace)?;
        if workspace.credit_balance < amount && cost.of(workspace.currency.into()) == amount {
            return Err(ReserveError::InsufficientCredits { required: amount, available: workspace.credit_balance });
        }
    }
    Err(ReserveError::Failed(CallError::Busy))
}

/// Returns `Ok` if another attempt makes sense, otherwise the refusal for the caller.
fn refusal(error: ReserveCreditsError, amount: Money, workspace: &Workspace) -> Result<(), ReserveError> {
    match error {
        // Concurrent spending or a change of currency: check again.
        ReserveCreditsError::WorkspaceLimitReached
        | ReserveCreditsError::AgentLimitReached
        | ReserveCreditsError::InsufficientCredits
            if workspace.credit_balance >= amount =>
        {
            Ok(())
        }
        ReserveCreditsError::WorkspaceLimitReached
        | ReserveCreditsError::AgentLimitReached
        | ReserveCreditsError::Conflict(_) => Ok(()),
        ReserveCreditsError::InsufficientCredits => {
            Err(ReserveError::InsufficientCredits { required: amount, available: workspace.credit_balance })
        }
        ReserveCreditsError::UnknownWorkspace => Err(ReserveError::UnknownWorkspace),
        ReserveCreditsError::UnknownAgent => Err(ReserveError::UnknownAgent),
        ReserveCreditsError::WorkspaceGone => Err(ReserveError::WorkspaceGone),
        ReserveCreditsError::NotPositive => {
            Err(ReserveError::Failed(CallError::Unexpected("the estimate is below zero".to_owned())))
        }
        ReserveCreditsError::Failed(error) => Err(error.into()),
    }
}

fn input(helpmaton: &Helpmaton, call: &Reserve, amount: Money, evaluated: &Evaluated) -> ReserveCreditsInput {
    let expires = helpmaton.now_millis().div_euclid(1000) + RESERVED_SECS;
    ReserveCreditsInput {
        reservation_id: Some(call.reservation_id.clone()),
        expires: Some(Epoch(expires)),
        expires_hour: Some(Epoch(expires - expires.rem_euclid(HOUR_SECS))),
        ..ReserveCreditsInput::new(
            call.workspace_id.clone(),
            call.agent_id.clone(),
            amount,
            evaluated.workspace_room,
            evaluated.agent_room,
        )
    }
}

/// Returns the reserved credit after a concurrent call took the last request.
async fn give_back(
    helpmaton: &Helpmaton,
    reserved: &Reserved,
    refused: ReserveError,
) -> Result<Reserved, ReserveError> {
    if let (Reserved::Credit(reservation), ReserveError::RequestLimitReached) = (reserved, &refused) {
        // If this fails, the job returns the credit when the reservation expires.
        let given_back = super::refund(helpmaton, &reservation.reservation_id).await;
        tracing::debug!(?given_back, "the request limit has been reached meanwhile");
    }
    Err(refused)
}

fn of_request_limit(error: FlowError) -> ReserveError {
    match error {
        FlowError::Refused { outcome, .. } if outcome == "RequestLimitReached" => ReserveError::RequestLimitReached,
        FlowError::Refused { outcome, .. } => ReserveError::Failed(CallError::Unexpected(outcome)),
        FlowError::Failed(error) => ReserveError::Failed(error.into()),
        FlowError::Forbidden => ReserveError::Failed(CallError::Forbidden),
        FlowError::Arguments(why) => ReserveError::Failed(CallError::Arguments(why)),
        FlowError::Throttled(_) | FlowError::Overloaded { .. } => ReserveError::Failed(CallError::Busy),
        FlowError::Broken(why) => ReserveError::Failed(RunError::NotRunnable(why).into()),
    }
}
