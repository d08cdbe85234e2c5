//! Sample data: two agencies and three people.

use std::time::Duration;

use keyform::flow::{FlowError, Host};
use serde_json::{Map, Value};

use crate::model::{AddMemberError, Agencies, Agency, Caller};

/// Agency, founder, and further members.
const AGENCIES: [(&str, &str, &[&str]); 2] =
    [("Harbour & Sons", "ada", &["grace", "linus"]), ("North Light Travel", "grace", &["ada"])];

const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// Writes the sample data if it is missing; returns lines that describe what to try.
///
/// # Errors
/// The data cannot be written.
pub async fn make(agencies: &Agencies, host: &Host) -> Result<Vec<String>, FlowError> {
    let mut first = None;
    for (name, founder, people) in AGENCIES {
        let agency = found(agencies, name, founder).await?;
        let founder = agencies.as_caller(person(founder));
        for who in people {
            match founder.add_member(&agency.agency_id, who).await {
                Ok(_) | Err(AddMemberError::AlreadyMember) => {}
                Err(error) => return Err(error.into()),
            }
        }
        first.get_or_insert(agency);
    }
    Ok(first.map_or_else(Vec::new, |agency| lines(host, &agency)))
}

/// Returns the agency with this name that the person founded, or creates it.
async fn found(agencies: &Agencies, name: &str, founder: &str) -> Result<Agency, FlowError> {
    for member in agencies.memberships_of(founder).all().await? {
        if let Some(agency) = agencies.agency_by_id(&member.agency_id).await?
            && agency.name == name
        {
            return Ok(agency);
        }
    }
    Ok(agencies.as_caller(person(founder)).create_agency(name).await?)
}

fn person(idpid: &str) -> Caller {
    Caller { idpid: idpid.to_owned(), admin: false }
}

fn lines(host: &Host, agency: &Agency) -> Vec<String> {
    let who = caller_header(host, "ada");
    vec![
        format!(
            "curl -H '{who}' -H 'Content-Type: application/json' -d '{{}}' http://127.0.0.1:8000/v1/agencies/myAgencies"
        ),
        format!("curl -H '{who}' 'http://127.0.0.1:8000/v1/agencies/membersOfAgency?agencyId={}'", agency.agency_id),
    ]
}

/// Returns the development header where it is trusted, otherwise a token.
fn caller_header(host: &Host, idpid: &str) -> String {
    let claims: Map<String, Value> =
        [("idpid".to_owned(), Value::from(idpid)), ("admin".to_owned(), Value::from(false))].into_iter().collect();
    match host.issue_token(claims, WEEK) {
        Some(token) if !host.token_keys().is_empty() => format!("Authorization: Bearer {token}"),
        _ => format!("X-Keyform-Caller: idpid={idpid}; admin=false"),
    }
}
