//! Agencies of a person.
//!
//! The index contains only ids. A page of it and one BatchGetItem return the names: two requests, where individual
//! look-ups would take fifty-one.

use std::collections::BTreeMap;

use keyform::{CallError, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{Agencies, AgencyId, AgencyStatus};

/// Position in the list.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MembershipsAfter {
    /// Cursor of the previous page.
    pub cursor: Option<String>,
}

/// Membership of a person in an agency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Membership {
    /// Id of the agency.
    #[schemars(with = "String")]
    pub agency_id: AgencyId,
    /// Name of the agency.
    pub name: String,
    /// State of the agency.
    #[schemars(with = "String")]
    pub status: AgencyStatus,
    /// Time at which the person joined.
    #[schemars(with = "String")]
    pub since: Timestamp,
}

/// One page of results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MembershipPage {
    /// Ordered by id, which is the order of creation.
    pub items: Vec<Membership>,
    /// Cursor of the next page; absent on the last page.
    pub cursor: Option<String>,
}

/// Returns a page of a person's agencies. Omits agencies that were just deleted, which the index may still contain.
///
/// # Errors
/// [`CallError`]: only administrators may ask for another person.
pub async fn page(agencies: &Agencies, person: &str, cursor: Option<String>) -> Result<MembershipPage, CallError> {
    let page = agencies.memberships_of(person).after_any(cursor).await?;
    let ids: Vec<AgencyId> = page.items.iter().map(|member| member.agency_id.clone()).collect();
    let mut names: BTreeMap<AgencyId, (String, AgencyStatus)> = if ids.is_empty() {
        BTreeMap::new()
    } else {
        let found = agencies.agencies_by_id(&ids).await?;
        found.into_iter().map(|agency| (agency.agency_id, (agency.name, agency.status))).collect()
    };
    let joined = page.items.into_iter().filter_map(|member| {
        let (name, status) = names.remove(&member.agency_id)?;
        Some(Membership { agency_id: member.agency_id, name, status, since: member.created })
    });
    Ok(MembershipPage { items: joined.collect(), cursor: page.cursor })
}
