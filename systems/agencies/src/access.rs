//! Permission to act for an agency.
//!
//! The check reads the membership itself, with strong consistency. The index by person would still admit a removed
//! member for a moment.

use keyform::CallError;
use schemars::JsonSchema;
use serde::Serialize;

use crate::model::{Agencies, AgencyId, AgencyStatus};

/// The caller's permissions in an agency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// True if the caller is a member and the agency is active.
    pub allowed: bool,
    /// True if the caller is a member.
    pub is_member: bool,
    /// State of the agency; absent if the caller is not a member.
    #[schemars(with = "Option<String>")]
    pub status: Option<AgencyStatus>,
}

/// Returns a person's current access. Non-members learn nothing about the agency, not even whether it exists.
///
/// # Errors
/// A read fails.
pub async fn check(agencies: &Agencies, agency: &AgencyId, person: &str) -> Result<Access, CallError> {
    if agencies.membership(agency, person).await?.is_none() {
        return Ok(Access { allowed: false, is_member: false, status: None });
    }
    let status = agencies.agency_by_id(agency).await?.map(|agency| agency.status);
    Ok(Access { allowed: status == Some(AgencyStatus::Active), is_member: true, status })
}
