//! Flows and the job of credits.
//!
//! `beginCall`, `endCall` and `cancelCall` are for clients that run agents for a workspace and may write in it. A
//! program that calls models itself uses the functions instead.

use std::time::Duration;

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError, Job};
use keyform::{Money, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::purchase::{self, Order};
use super::reserve::{self, Reserve, Reserved};
use super::{expire, settle, trial};
use crate::model::{AgentId, CreditReservation, CreditReservationId, Workspace, WorkspaceId};
use crate::prices::{Cost, Currency, Tokens};
use crate::{Helpmaton, access, agents, limits};

const EXPIRE_EVERY: Duration = Duration::from_secs(600);

/// A call that is to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CallArguments {
    /// The workspace that pays.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// The agent that calls.
    #[schemars(with = "String")]
    agent_id: AgentId,
    /// A UUID for the reservation, if the caller wants to name it.
    #[schemars(with = "Option<String>")]
    reservation_id: Option<CreditReservationId>,
    /// The messages that the model will be given.
    #[serde(default)]
    messages: Vec<serde_json::Value>,
    /// Tools beside the agent's own.
    #[serde(default)]
    tools: Vec<serde_json::Value>,
}

/// What was set aside.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BegunAnswer {
    /// The reservation; none if the workspace pays the provider itself.
    #[schemars(with = "Option<String>")]
    reservation_id: Option<CreditReservationId>,
    /// Nano-units that are set aside.
    #[schemars(with = "i64")]
    reserved: Money,
    /// Until when the call has to be ended.
    #[schemars(with = "Option<String>")]
    until: Option<Timestamp>,
}

impl From<Reserved> for BegunAnswer {
    fn from(reserved: Reserved) -> Self {
        match reserved {
            Reserved::Byok { .. } => Self { reservation_id: None, reserved: Money::ZERO, until: None },
            Reserved::Credit(reservation) => Self {
                reserved: reservation.reserved_amount,
                until: reservation.expires.map(Timestamp::from),
                reservation_id: Some(reservation.reservation_id),
            },
        }
    }
}

/// What a call may cost.
#[derive(Debug, Serialize, JsonSchema)]
struct EstimateAnswer {
    /// The tokens.
    tokens: Tokens,
    /// The cost, in nano-units; none if the model has no price.
    cost: Option<Cost>,
}

/// A call that was made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EndArguments {
    /// The reservation.
    #[schemars(with = "String")]
    reservation_id: CreditReservationId,
    /// The model that answered, if not the agent's.
    model_name: Option<String>,
    /// Its tokens. Without them the call costs what was set aside.
    tokens: Option<Tokens>,
}

/// A reservation by its id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReservationArguments {
    /// The reservation.
    #[schemars(with = "String")]
    reservation_id: CreditReservationId,
}

/// A reservation that is closed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ClosedAnswer {
    /// `settled`, `refunded` or `expired`.
    #[schemars(with = "String")]
    status: crate::model::CreditReservationStatus,
    /// Nano-units that the call cost.
    #[schemars(with = "i64")]
    cost: Money,
}

impl From<CreditReservation> for ClosedAnswer {
    fn from(closed: CreditReservation) -> Self {
        Self { status: closed.status, cost: closed.settled_cost.unwrap_or(Money::ZERO) }
    }
}

/// An order that was paid, signed by the shop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OrderArguments {
    /// The shop's id of it.
    order_id: String,
    /// The workspace whose credit was bought.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Nano-units that were paid.
    #[schemars(with = "i64")]
    amount: Money,
    /// In which currency.
    currency: Currency,
    /// HMAC-SHA-256 of the lines of order, workspace, amount and currency, in hexadecimal digits.
    signature: String,
}

/// A workspace's account.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AccountAnswer {
    /// Nano-units that can be spent.
    #[schemars(with = "i64")]
    balance: Money,
    /// Nano-units that calls under way have set aside.
    #[schemars(with = "i64")]
    reserved: Money,
    /// In which currency.
    currency: Currency,
    /// How much of the trial credit is used, in percent.
    trial_used_percent: Option<u8>,
}

impl From<Workspace> for AccountAnswer {
    fn from(workspace: Workspace) -> Self {
        Self {
            balance: workspace.credit_balance,
            reserved: workspace.reserved_credits,
            currency: workspace.currency.into(),
            trial_used_percent: trial::used_percent(&workspace),
        }
    }
}

/// A decision on trial credit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TrialArguments {
    /// The workspace that asked.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// Nano-units to give; none rejects the request.
    #[schemars(with = "Option<i64>")]
    amount: Option<Money>,
}

/// The decision.
#[derive(Debug, Serialize, JsonSchema)]
struct TrialAnswer {
    /// `approved` or `rejected`.
    #[schemars(with = "String")]
    status: crate::model::TrialCreditRequestStatus,
}

/// A workspace by its id.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WorkspaceArguments {
    /// The workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    application
        .flow(helpmaton.flow("estimateCall", "What a call may cost.", estimate_call).outcomes(&["UnknownAgent"]))
        .flow(helpmaton.flow("beginCall", "Sets aside what a call may cost.", begin_call).outcomes(BEGIN_OUTCOMES))
        .flow(helpmaton.flow("endCall", "Settles what a call cost.", end_call).outcomes(END_OUTCOMES))
        .flow(helpmaton.flow("cancelCall", "Gives back what was set aside.", cancel_call).outcomes(CANCEL_OUTCOMES))
        .flow(helpmaton.flow("creditAccount", "A workspace's balance.", account))
        .flow(
            helpmaton
                .flow("recordPurchase", "Credits an order, as signed by the shop.", record_purchase)
                .public()
                .outcomes(PURCHASE_OUTCOMES),
        )
        .flow(
            helpmaton
                .flow("decideTrialCredit", "Approves or rejects trial credit, by an administrator.", decide_trial)
                .outcomes(TRIAL_OUTCOMES),
        )
        .job(expire_job(helpmaton))
}

const BEGIN_OUTCOMES: &[&str] = &[
    "UnknownWorkspace",
    "UnknownAgent",
    "WorkspaceGone",
    "UnknownModel",
    "RequestLimitReached",
    "SpendingLimitReached",
    "InsufficientCredits",
    "ReservationExists",
];
const END_OUTCOMES: &[&str] = &["UnknownReservation", "AlreadyClosed", "UnknownModel"];
const CANCEL_OUTCOMES: &[&str] = &["UnknownReservation", "AlreadyClosed"];
const PURCHASE_OUTCOMES: &[&str] = &["UnknownWorkspace", "WorkspaceGone", "WrongCurrency", "NotPositive"];
const TRIAL_OUTCOMES: &[&str] = &["UnknownRequest", "AlreadyDecided", "NotPositive", "CurrencyChanged"];

fn expire_job(helpmaton: &Helpmaton) -> Job {
    let helpmaton = helpmaton.clone();
    Job::every(EXPIRE_EVERY, "expire reservations", move || {
        let helpmaton = helpmaton.clone();
        async move {
            let done = expire::expire_due(&helpmaton).await?;
            Ok::<_, keyform::CallError>(match done {
                expire::Expired { given_back: 0, failed: 0 } => String::new(),
                done => format!("{} given back, {} failed", done.given_back, done.failed),
            })
        }
    })
}

fn call_of(helpmaton: &Helpmaton, call: FlowCall<CallArguments>) -> Reserve {
    let CallArguments { workspace_id, agent_id, reservation_id, messages, tools } = call.arguments;
    let id = reservation_id.unwrap_or_else(|| helpmaton.id_for(call.token.as_deref(), "reservation"));
    Reserve { reservation_id: id, workspace_id, agent_id, messages, tools }
}

async fn estimate_call(helpmaton: Helpmaton, call: FlowCall<CallArguments>) -> Result<EstimateAnswer, FlowError> {
    access::reader(&helpmaton, &call.caller, &call.arguments.workspace_id).await?;
    let (tokens, cost) = reserve::estimated(&helpmaton, &call_of(&helpmaton, call)).await?;
    Ok(EstimateAnswer { tokens, cost })
}

async fn begin_call(helpmaton: Helpmaton, call: FlowCall<CallArguments>) -> Result<BegunAnswer, FlowError> {
    access::writer(&helpmaton, &call.caller, &call.arguments.workspace_id).await?;
    Ok(reserve::reserve(&helpmaton, &call_of(&helpmaton, call)).await?.into())
}

/// Returns the reservation, if the caller may write in its workspace.
async fn own_reservation(
    helpmaton: &Helpmaton,
    caller: &keyform::runtime::run::Caller,
    id: &CreditReservationId,
) -> Result<CreditReservation, FlowError> {
    let found = helpmaton.model.reservation_by_id(id).await?;
    let found = found.ok_or_else(|| FlowError::from(settle::CloseError::UnknownReservation))?;
    access::writer(helpmaton, caller, &found.workspace_id).await?;
    Ok(found)
}

async fn end_call(helpmaton: Helpmaton, call: FlowCall<EndArguments>) -> Result<ClosedAnswer, FlowError> {
    let EndArguments { reservation_id, model_name, tokens } = call.arguments;
    let found = own_reservation(&helpmaton, &call.caller, &reservation_id).await?;
    let model_name = match model_name {
        Some(name) => name,
        None => {
            let agent = helpmaton.model.agent_by_id(&found.workspace_id, &found.agent_id).await?;
            agent.as_ref().map_or(agents::DEFAULT_MODEL, agents::model_name).to_owned()
        }
    };
    Ok(settle::settle_tokens(&helpmaton, &reservation_id, &model_name, tokens).await?.into())
}

async fn cancel_call(helpmaton: Helpmaton, call: FlowCall<ReservationArguments>) -> Result<ClosedAnswer, FlowError> {
    let id = call.arguments.reservation_id;
    own_reservation(&helpmaton, &call.caller, &id).await?;
    Ok(settle::refund(&helpmaton, &id).await?.into())
}

async fn account(helpmaton: Helpmaton, call: FlowCall<WorkspaceArguments>) -> Result<AccountAnswer, FlowError> {
    let (_, model) = helpmaton.as_caller(&call.caller)?;
    let workspace = model.workspace_by_id(&call.arguments.workspace_id).await?;
    Ok(workspace.ok_or(keyform::CallError::NotFound("Workspace".to_owned()))?.into())
}

async fn record_purchase(helpmaton: Helpmaton, call: FlowCall<OrderArguments>) -> Result<AccountAnswer, FlowError> {
    let OrderArguments { order_id, workspace_id, amount, currency, signature } = call.arguments;
    let order = Order { order_id, workspace_id, amount, currency };
    helpmaton.attempt(&limits::KEY, call.client, None)?;
    let secret = helpmaton.settings().shop_secret.as_ref().ok_or(FlowError::Forbidden)?;
    if !purchase::is_signed(secret.expose(), &order, &signature) {
        return Err(FlowError::Forbidden);
    }
    Ok(purchase::purchase(&helpmaton, &order).await?.into())
}

async fn decide_trial(helpmaton: Helpmaton, call: FlowCall<TrialArguments>) -> Result<TrialAnswer, FlowError> {
    let (caller, _) = helpmaton.as_caller(&call.caller)?;
    let by = caller.email.to_string();
    trial::administrator(&helpmaton, &by)?;
    let TrialArguments { workspace_id, amount } = call.arguments;
    let decided = match amount {
        Some(amount) => trial::approve(&helpmaton, &workspace_id, amount, &by).await?,
        None => trial::reject(&helpmaton, &workspace_id, &by).await?,
    };
    Ok(TrialAnswer { status: decided.status })
}
