//! An agency is deleted with its members, however many they are.
//!
//! A transaction has room for a hundred items, an agency may have thousands of members. So it takes several steps, and each leaves a state
//! from which any process can go on:
//!
//! ```text
//! ordered: nobody joins any more ── evict 50 ── evict 50 ── … ── the last 50 and the agency at once
//! ```
//!
//! Members are never without their agency: it goes with the last of them, on the condition that its count of members is theirs.
//!
//! An agency whose count is wrong, because something else than the model has written it, would never come to that end. Rounds that remove no member
//! are therefore counted, whoever is the cause, and the last of them is an error that says what is wrong.

use keyform::CallError;
use keyform::server::FlowError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Agencies, AgencyId, Caller, DissolveAgencyError, EvictMembersError, OrderDissolutionError};

/// The members that go with their agency in one transaction: a page of `membersOfAgency`.
const MEMBERS_AT_ONCE_MAX: i64 = 50;

/// Attempts in a row lost to concurrent writers before giving up.
const ROUNDS_OUTRUN_MAX: u32 = 50;

/// Rounds in a row that remove no member although no other writer is in the way, before the count of members is taken to be wrong. More than one,
/// since a read of the members may lag behind.
const ROUNDS_MISCOUNTED_MAX: u32 = 3;

/// An agency.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Dissolve {
    /// Its id.
    pub agency_id: String,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dissolved {
    /// How many members this call has removed; those that a call before it has removed are not among them.
    pub members_removed: u64,
}

/// Why an agency is not dissolved, or not wholly.
#[derive(Clone, Debug, PartialEq)]
pub enum DissolutionError {
    /// Too many others write the same agency: call again.
    Busy,
    /// The agency counts other members than it has.
    Miscounted {
        /// The members that the agency counts.
        counted: i64,
    },
    /// A call failed. What was done stays done, and the rest is done by the next call or by the job.
    Failed(CallError),
}

impl std::fmt::Display for DissolutionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Busy => CallError::Busy.fmt(f),
            Self::Miscounted { counted } => write!(
                f,
                "the agency counts {counted} members, and those it has are not as many: correct `members` of the agency's item, and dissolve it again"
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

/// Dissolves an agency as its caller, who must be an administrator; how many members were removed. An agency that is not there is dissolved.
///
/// # Errors
/// [`DissolutionError`]. It can be called again.
pub async fn dissolve(agencies: &Agencies, agency: &AgencyId) -> Result<u64, DissolutionError> {
    match agencies.order_dissolution(agency).await {
        Ok(_) => {}
        Err(OrderDissolutionError::UnknownAgency) => return Ok(0),
        Err(OrderDissolutionError::Conflict(_)) => return Err(DissolutionError::Busy),
        Err(OrderDissolutionError::Failed(error)) => return Err(error.into()),
    }
    finish(agencies, agency).await
}

/// Goes on with every dissolution that was ordered and not finished; how many were.
///
/// # Errors
/// The first that failed, once the others were tried. The next run tries again.
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

/// What a round has come to.
enum Round {
    Done(u64),
    Evicted(u64),
    /// Another writer was faster.
    Outrun,
    /// No member was there to remove, or others than the agency counts.
    Miscounted(i64),
}

/// Rounds until the end. Each removes a member, or counts towards one of two bounds: an agency has finitely many members, since nobody joins.
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

/// The end if the members fit into one transaction, else a page of them less.
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

/// An agency that counts other members than were found has been written meanwhile, or its count is wrong.
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
