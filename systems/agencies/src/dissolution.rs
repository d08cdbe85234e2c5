//! Deletes an agency with all its members, however many.
//!
//! A transaction holds at most a hundred items, an agency may have thousands of members. Dissolution therefore takes
//! several steps, and any process can continue after each of them:
//!
//! ```text
//! ordered: no member can join  ── evict 50 ── evict 50 ── … ── the last 50 and the agency at once
//! ```
//!
//! Members never exist without their agency: it is deleted together with the last of them, on the condition that its
//! member count matches.
//!
//! An agency with a wrong count, because something other than the model has written it, would never meet that
//! condition. Rounds that remove no member are therefore counted, whatever the cause, and the last one fails with an
//! error that explains the mismatch.

use keyform::CallError;
use keyform::flow::FlowError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Agencies, AgencyId, Caller, DissolveAgencyError, EvictMembersError, OrderDissolutionError};

/// Members deleted with their agency in one transaction: a page of `membersOfAgency`.
const MEMBERS_AT_ONCE_MAX: i64 = 50;

/// Attempts in a row lost to concurrent writers before giving up.
const ROUNDS_OUTRUN_MAX: u32 = 50;

/// Consecutive rounds that remove no member without a concurrent writer, before the member count is considered wrong.
/// More than one, because a read of the members may lag behind.
const ROUNDS_MISCOUNTED_MAX: u32 = 3;

/// Identifies the agency to delete.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Dissolve {
    /// Id of the agency.
    pub agency_id: String,
}

/// Result of a dissolution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dissolved {
    /// Members that this call removed, without those of earlier calls.
    pub members_removed: u64,
}

/// Reason why an agency was not dissolved, or not completely.
#[derive(Clone, Debug, PartialEq)]
pub enum DissolutionError {
    /// Too many concurrent writers on the same agency: retry.
    Busy,
    /// The agency's member count does not match its members.
    Miscounted {
        /// Member count that the agency stores.
        counted: i64,
    },
    /// A call failed. Completed steps remain; the next call or the job does the rest.
    Failed(CallError),
}

impl std::fmt::Display for DissolutionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Busy => CallError::Busy.fmt(f),
            Self::Miscounted { counted } => write!(
                f,
                "the agency counts {counted} members, but has fewer: correct `members` of the agency's item, and \
                dissolve it again"
            ),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DissolutionError {}

impl From<CallError> for DissolutionError {
    fn from(error: CallError) -> Self {
        if error == CallError::Busy { Self::Busy } else { Self::Failed(error) }
    }
}

impl From<DissolutionError> for FlowError {
    fn from(error: DissolutionError) -> Self {
        match error {
            DissolutionError::Busy => CallError::Busy.into(),
            DissolutionError::Miscounted { .. } => Self::refused("Miscounted", error.to_string()),
            DissolutionError::Failed(error) => error.into(),
        }
    }
}

/// Dissolves an agency on behalf of its caller, who must be an administrator; returns the number of removed members. A
/// missing agency counts as dissolved.
///
/// # Errors
/// [`DissolutionError`]. The call can be retried.
pub async fn dissolve(agencies: &Agencies, agency: &AgencyId) -> Result<u64, DissolutionError> {
    match agencies.order_dissolution(agency).await {
        Ok(_) => {}
        Err(OrderDissolutionError::UnknownAgency) => return Ok(0),
        Err(OrderDissolutionError::Conflict(_)) => return Err(DissolutionError::Busy),
        Err(OrderDissolutionError::Failed(error)) => return Err(error.into()),
    }
    finish(agencies, agency).await
}

/// Continues every dissolution that was ordered and not finished; returns the number of finished ones.
///
/// # Errors
/// The first failure, after the others were tried. The next run retries.
pub async fn finish_all(agencies: &Agencies) -> Result<usize, DissolutionError> {
    let mut ordered = Vec::new();
    let mut all = agencies.agencies().items();
    while let Some(agency) = all.next().await {
        let agency = agency?;
        if let Some(by) = agency.dissolved_by {
            ordered.push((agency.agency_id, by));
        }
    }
    let mut failed = None;
    for (agency, by) in &ordered {
        let administrator = Caller { idpid: by.clone(), admin: true };
        if let Err(error) = finish(&agencies.as_caller(administrator), agency).await {
            failed.get_or_insert(error);
        }
    }
    failed.map_or(Ok(ordered.len()), Err)
}

/// Result of a round.
enum Round {
    Done(u64),
    Evicted(u64),
    /// A concurrent writer was faster.
    Outrun,
    /// The members found do not match the count.
    Miscounted(i64),
}

/// Runs rounds until the agency is deleted. Each removes a member or counts towards one of two limits. The members are
/// finite, because no member can join any more.
async fn finish(agencies: &Agencies, agency: &AgencyId) -> Result<u64, DissolutionError> {
    let (mut removed, mut outrun, mut miscounted) = (0, 0, 0);
    loop {
        match round(agencies, agency).await? {
            Round::Done(last) => return Ok(removed + last),
            Round::Evicted(count) => (removed, outrun, miscounted) = (removed + count, 0, 0),
            Round::Outrun if outrun == ROUNDS_OUTRUN_MAX => return Err(DissolutionError::Busy),
            Round::Outrun => outrun += 1,
            Round::Miscounted(counted) if miscounted == ROUNDS_MISCOUNTED_MAX => {
                return Err(DissolutionError::Miscounted { counted });
            }
            Round::Miscounted(_) => miscounted += 1,
        }
    }
}

/// Deletes the agency if its members fit into one transaction; otherwise evicts a page of them.
async fn round(agencies: &Agencies, agency: &AgencyId) -> Result<Round, DissolutionError> {
    let Some(before) = agencies.agency_by_id(agency).await? else { return Ok(Round::Done(0)) };
    if before.members > MEMBERS_AT_ONCE_MAX {
        return evict(agencies, agency, before.members).await;
    }
    match agencies.dissolve_agency(agency).await {
        Ok(()) => Ok(Round::Done(count(before.members))),
        Err(DissolveAgencyError::UnknownAgency) => Ok(Round::Done(0)),
        Err(DissolveAgencyError::TooManyMembers) => miscounted(agencies, agency, before.version).await,
        Err(
            DissolveAgencyError::MemberRemains
            | DissolveAgencyError::Changed
            | DissolveAgencyError::Conflict(_)
            | DissolveAgencyError::Failed(CallError::Busy),
        ) => Ok(Round::Outrun),
        Err(DissolveAgencyError::Failed(error)) => Err(error.into()),
    }
}

/// Decides whether a mismatch comes from a concurrent write or from a wrong count.
async fn miscounted(agencies: &Agencies, agency: &AgencyId, before: i64) -> Result<Round, DissolutionError> {
    let now = agencies.agency_by_id(agency).await?;
    let unchanged = now.filter(|now| now.version == before);
    Ok(unchanged.map_or(Round::Outrun, |now| Round::Miscounted(now.members)))
}

async fn evict(agencies: &Agencies, agency: &AgencyId, before: i64) -> Result<Round, DissolutionError> {
    match agencies.evict_members(agency).await {
        Ok(after) if after.members < before => Ok(Round::Evicted(count(before - after.members))),
        Ok(_) => Ok(Round::Miscounted(before)),
        Err(EvictMembersError::UnknownAgency) => Ok(Round::Done(0)),
        Err(
            EvictMembersError::Changed
            | EvictMembersError::Conflict(_)
            | EvictMembersError::Failed(CallError::Busy | CallError::Gone),
        ) => Ok(Round::Outrun),
        Err(EvictMembersError::Failed(error)) => Err(error.into()),
    }
}

fn count(members: i64) -> u64 {
    u64::try_from(members).unwrap_or(0)
}
