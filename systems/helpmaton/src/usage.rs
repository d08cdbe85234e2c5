//! Daily token usage.
//!
//! A job aggregates conversations once a day, for completed days: one row per agent, model, provider and payer. A
//! conversation counts towards the day it started. If it continues later, its day is aggregated again, as long as all
//! conversations of that day certainly still exist. Rows contain totals, so that a repeated run changes nothing. The
//! job stores its progress, so that a missed day is made up for.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use keyform::application::Application;
use keyform::flow::{FlowCall, FlowError, Job};
use keyform::{CallError, Date, Money};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Helpmaton;
use crate::model::{
    self, AgentId, ConversationsSinceConversation, FinishTillError, ForgetAgentSpendingError, JobProgressJob,
    SaveUsageError, SaveUsageInput, UsageAggregate, UsageAggregatePayer, UsageAggregateProvider, UserId, Workspace,
    WorkspaceId,
};
use crate::prices::Cost;

/// Name under which the progress is stored.
const JOB: &str = "aggregate-usage";
/// Interval at which the job checks for completed days.
const LOOK_EVERY: Duration = Duration::from_secs(3600);
/// Conversations live for 30 days, so a day within this range has lost none.
const DAYS_SUMMED_AGAIN: i64 = 28;
/// Maximum deletes per request.
const BATCH_MAX: usize = 25;
/// Range of all possible days of usage and spending.
pub(crate) const ALL_DAYS: (Date, Date) = (Date::of_days(0), Date::of_days(2_932_896));

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aggregated {
    /// Number of examined workspaces.
    pub workspaces: usize,
    /// Number of written rows.
    pub rows: usize,
}

/// Aggregates the days since the last run, up to yesterday. Returns `None` if that was already done.
///
/// # Errors
/// A call fails. Repeating it is safe.
pub async fn aggregate_due(helpmaton: &Helpmaton) -> Result<Option<Aggregated>, CallError> {
    let today = helpmaton.now().date();
    let yesterday = Date::of_days(today.days() - 1);
    let earliest = Date::of_days(today.days() - DAYS_SUMMED_AGAIN);
    let job = JobProgressJob::new(JOB).expect("a name of a few letters");
    let first = match helpmaton.model.job_progress(&job).await? {
        Some(progress) => Date::of_days(progress.finished_till.date().days() + 1).max(earliest),
        None => earliest,
    };
    if first > yesterday {
        return Ok(None);
    }
    let done = aggregate(helpmaton, first, yesterday).await?;
    match helpmaton.model.finish_till(&job, yesterday.start()).await {
        Ok(_) | Err(FinishTillError::Conflict(_)) => Ok(Some(done)),
        Err(FinishTillError::Failed(error)) => Err(error),
    }
}

/// Aggregates the conversations that started on these days, and again those of earlier days that continued since.
///
/// # Errors
/// A call fails. Repeating it is safe.
pub async fn aggregate(helpmaton: &Helpmaton, first: Date, last: Date) -> Result<Aggregated, CallError> {
    let mut done = Aggregated::default();
    let mut workspaces = helpmaton.model.all_workspaces().items();
    while let Some(workspace) = workspaces.next().await {
        let workspace = workspace?;
        if workspace.deleting_at.is_none() {
            done.rows += aggregate_workspace(helpmaton, &workspace, first, last).await?;
            done.workspaces += 1;
        }
    }
    Ok(done)
}

async fn aggregate_workspace(
    helpmaton: &Helpmaton,
    workspace: &Workspace,
    first: Date,
    last: Date,
) -> Result<usize, CallError> {
    let Some(payer) = helpmaton.model.subscription_by_id(&workspace.subscription_id).await? else { return Ok(0) };
    let mut rows = 0;
    for agent in helpmaton.model.agents_in_workspace(&workspace.workspace_id).all().await? {
        let sums = sums_of_agent(helpmaton, &workspace.workspace_id, &agent.agent_id, first, last).await?;
        for (key, sum) in sums {
            rows +=
                usize::from(save(helpmaton, &workspace.workspace_id, &agent.agent_id, &payer.user_id, key, sum).await?);
        }
    }
    Ok(rows)
}

/// Key of a row: day, provider, own key, and model.
type Key = (Date, UsageAggregateProvider, bool, String);

/// Tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// Input tokens.
    pub input_tokens: i64,
    /// Output tokens.
    pub output_tokens: i64,
    /// Input and output tokens.
    pub total_tokens: i64,
    /// Cost in nano-units.
    pub cost: Cost,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.total_tokens += other.total_tokens;
        self.cost = Cost {
            usd: self.cost.usd + other.cost.usd,
            eur: self.cost.eur + other.cost.eur,
            gbp: self.cost.gbp + other.cost.gbp,
        };
    }
}

/// Returns the sums of the days to write.
async fn sums_of_agent(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    first: Date,
    last: Date,
) -> Result<BTreeMap<Key, Sum>, CallError> {
    let since = |day: Date| helpmaton.model.conversations_since(workspace_id, agent_id, day.start());
    let mut conversations = since(first).await?;
    let days = days_to_sum(&conversations, first, last, helpmaton.now().date());
    if let Some(&earlier) = days.first().filter(|&&day| day < first) {
        conversations = since(earlier).await?;
    }
    Ok(sums(&conversations, &days))
}

/// Returns the requested days, and earlier ones whose conversations continued.
fn days_to_sum(
    conversations: &[ConversationsSinceConversation],
    first: Date,
    last: Date,
    today: Date,
) -> BTreeSet<Date> {
    let began = conversations.iter().map(|conversation| conversation.started_at.date());
    let is_wanted = |day: &Date| *day <= last && (*day >= first || day.days() >= today.days() - DAYS_SUMMED_AGAIN);
    began.filter(is_wanted).collect()
}

fn sums(conversations: &[ConversationsSinceConversation], days: &BTreeSet<Date>) -> BTreeMap<Key, Sum> {
    let mut sums: BTreeMap<Key, Sum> = BTreeMap::new();
    for conversation in conversations {
        let day = conversation.started_at.date();
        let (Some(provider), Some(model)) = (provider_of(conversation), &conversation.model_name) else { continue };
        if days.contains(&day) && !model.is_empty() {
            let key = (day, provider, conversation.uses_byok == Some(true), model.clone());
            sums.entry(key).or_default().add(sum_of(conversation));
        }
    }
    sums
}

fn provider_of(conversation: &ConversationsSinceConversation) -> Option<UsageAggregateProvider> {
    match conversation.provider.as_deref()? {
        "google" => Some(UsageAggregateProvider::Google),
        "openai" => Some(UsageAggregateProvider::Openai),
        "anthropic" => Some(UsageAggregateProvider::Anthropic),
        _ => None,
    }
}

fn sum_of(conversation: &ConversationsSinceConversation) -> Sum {
    Sum {
        input_tokens: conversation.token_usage.prompt_tokens,
        output_tokens: conversation.token_usage.completion_tokens,
        total_tokens: conversation.token_usage.total_tokens,
        cost: Cost { usd: conversation.cost_usd, eur: conversation.cost_eur, gbp: conversation.cost_gbp },
    }
}

/// Writes a row; returns `false` if the workspace is being removed.
async fn save(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
    user_id: &UserId,
    (date, provider, uses_byok, model_name): Key,
    sum: Sum,
) -> Result<bool, CallError> {
    let payer = if uses_byok { UsageAggregatePayer::Byok } else { UsageAggregatePayer::Platform };
    let input = SaveUsageInput {
        workspace_id: workspace_id.clone(),
        date,
        agent_id: agent_id.clone(),
        provider,
        payer,
        model_name,
        user_id: user_id.clone(),
        uses_byok,
        input_tokens: sum.input_tokens,
        output_tokens: sum.output_tokens,
        total_tokens: sum.total_tokens,
        cost_usd: sum.cost.usd,
        cost_eur: sum.cost.eur,
        cost_gbp: sum.cost.gbp,
    };
    match helpmaton.model.save_usage(input).await {
        Ok(_) => Ok(true),
        Err(SaveUsageError::WorkspaceGone | SaveUsageError::Conflict(_)) => Ok(false),
        Err(SaveUsageError::Failed(error)) => Err(error),
    }
}

/// Usage over a range of days.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Statistics {
    /// Total usage.
    pub total: Sum,
    /// Usage by day.
    pub by_day: BTreeMap<String, Sum>,
    /// Usage by agent.
    pub by_agent: BTreeMap<String, Sum>,
    /// Usage by model.
    pub by_model: BTreeMap<String, Sum>,
    /// Usage that the workspace paid to providers itself.
    pub byok: Sum,
}

/// Aggregates rows.
#[must_use]
pub fn statistics(rows: &[UsageAggregate]) -> Statistics {
    let mut statistics = Statistics::default();
    for row in rows {
        let sum = Sum {
            input_tokens: row.input_tokens,
            output_tokens: row.output_tokens,
            total_tokens: row.total_tokens,
            cost: Cost { usd: row.cost_usd, eur: row.cost_eur, gbp: row.cost_gbp },
        };
        statistics.total.add(sum);
        statistics.by_day.entry(row.date.to_string()).or_default().add(sum);
        statistics.by_agent.entry(row.agent_id.to_string()).or_default().add(sum);
        statistics.by_model.entry(row.model_name.to_string()).or_default().add(sum);
        if row.uses_byok {
            statistics.byok.add(sum);
        }
    }
    statistics
}

/// Returns a workspace's usage over a range of days, inclusive. `model` is the caller's handle.
///
/// # Errors
/// The read fails, or the caller lacks permission.
pub async fn workspace_statistics(
    model: &model::Helpmaton,
    workspace_id: &WorkspaceId,
    start: Date,
    end: Date,
) -> Result<Statistics, CallError> {
    Ok(statistics(&model.workspace_usage(workspace_id, start, end).all().await?))
}

/// Returns the spending of a workspace on a day, including reservations.
///
/// # Errors
/// The read fails, or the caller lacks permission.
pub async fn spent_on(model: &model::Helpmaton, workspace_id: &WorkspaceId, day: Date) -> Result<Money, CallError> {
    Ok(model.workspace_spending(workspace_id, day, day).await?.into_iter().map(|row| row.spent).sum())
}

/// Deletes the daily spending of an agent.
pub(crate) async fn forget_agent_spending(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    agent_id: &AgentId,
) -> Result<(), CallError> {
    let (first, last) = ALL_DAYS;
    let rows = helpmaton.model.agent_spending(workspace_id, agent_id, first, last).await?;
    let days: Vec<Date> = rows.into_iter().map(|row| row.day).collect();
    for some in days.chunks(BATCH_MAX) {
        match helpmaton.model.forget_agent_spending(workspace_id, agent_id, some).await {
            Ok(()) | Err(ForgetAgentSpendingError::Conflict(_)) => {}
            Err(ForgetAgentSpendingError::Failed(error)) => return Err(error),
        }
    }
    Ok(())
}

/// A workspace and a range of days.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UsageArguments {
    /// Id of the workspace.
    #[schemars(with = "String")]
    workspace_id: WorkspaceId,
    /// First day of the range.
    #[schemars(with = "String")]
    start: Date,
    /// Last day of the range.
    #[schemars(with = "String")]
    end: Date,
}

async fn usage_flow(helpmaton: Helpmaton, call: FlowCall<UsageArguments>) -> Result<Statistics, FlowError> {
    let (_, model) = helpmaton.as_caller(&call.caller)?;
    let UsageArguments { workspace_id, start, end } = call.arguments;
    Ok(workspace_statistics(&model, &workspace_id, start, end).await?)
}

pub(crate) fn flows(application: Application, helpmaton: &Helpmaton) -> Application {
    let system = helpmaton.clone();
    let job = Job::every(LOOK_EVERY, "aggregate usage", move || {
        let helpmaton = system.clone();
        async move {
            Ok::<_, CallError>(match aggregate_due(&helpmaton).await? {
                None => String::new(),
                Some(done) => format!("{} rows of {} workspaces", done.rows, done.workspaces),
            })
        }
    });
    application
        .flow(helpmaton.flow("usageStatistics", "Returns the usage of a workspace over a range of days.", usage_flow))
        .job(job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ConversationTokenUsage;

    fn conversation(began: i64, last: i64, model: Option<&str>) -> ConversationsSinceConversation {
        ConversationsSinceConversation {
            workspace_id: keyform::Uuid::fresh().into(),
            agent_id: keyform::Uuid::fresh().into(),
            conversation_id: keyform::Uuid::fresh().into(),
            model_name: model.map(str::to_owned),
            provider: Some("google".to_owned()),
            uses_byok: None,
            token_usage: ConversationTokenUsage { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
            cost_usd: Money::of_nanos(7),
            cost_eur: Money::of_nanos(6),
            cost_gbp: Money::of_nanos(5),
            started_at: Date::of_days(began).start(),
            last_message_at: Date::of_days(last).start() + Duration::from_secs(60),
        }
    }

    #[test]
    fn an_earlier_day_is_summed_again_while_nothing_of_it_is_lost() {
        let day = Date::of_days;
        let conversations =
            [conversation(100, 100, Some("m")), conversation(90, 100, Some("m")), conversation(40, 100, None)];
        let days = days_to_sum(&conversations, day(100), day(100), day(101));
        assert_eq!(days, BTreeSet::from([day(90), day(100)]));
        assert!(days_to_sum(&conversations, day(100), day(99), day(101)).contains(&day(90)));
    }

    #[test]
    fn sums_are_by_day_model_and_payer_and_leave_out_what_has_no_model() {
        let day = Date::of_days;
        let byok = ConversationsSinceConversation { uses_byok: Some(true), ..conversation(100, 100, Some("m")) };
        let all =
            [conversation(100, 100, Some("m")), conversation(100, 101, Some("m")), byok, conversation(100, 100, None)];
        let sums = sums(&all, &BTreeSet::from([day(100)]));
        let tokens: Vec<_> = sums.iter().map(|(key, sum)| (key.2, sum.total_tokens)).collect();
        assert_eq!(tokens, [(false, 30), (true, 15)]);
        assert_eq!(sums.values().map(|sum| sum.cost.usd.nanos()).sum::<i128>(), 21);
    }
}
