//! Application: the model with its flows, its job and its sample data.

use std::time::Duration;

use keyform::CallError;
use keyform::application::{Application, claims};
use keyform::flow::{Flow, FlowCall, FlowError, Host, Job};

use crate::access::{self, Access};
use crate::dissolution::{self, Dissolve, Dissolved};
use crate::memberships::{self, MembershipPage, MembershipsAfter};
use crate::model::{Agencies, AgencyId, Caller};
use crate::sample;

/// Interval between two searches for interrupted dissolutions.
const DISSOLUTIONS_EVERY: Duration = Duration::from_secs(300);

/// Creates the application on a host.
///
/// # Errors
/// The host has no value for the variable `stage`.
pub fn application(host: &Host) -> Result<Application, CallError> {
    let agencies = Agencies::on(host.store(), host.options())?;
    let (finished, sampled, issuer) = (agencies.clone(), agencies.clone(), host.clone());
    Ok(Application::new(host, agencies.calls())
        .flow(dissolve(&agencies))
        .flow(my_agencies(&agencies))
        .flow(authorise(&agencies))
        .job(Job::every(DISSOLUTIONS_EVERY, "finishDissolutions", move || {
            let agencies = finished.clone();
            async move { dissolution::finish_all(&agencies).await.map(told) }
        }))
        .sample(move || {
            let (agencies, host) = (sampled.clone(), issuer.clone());
            async move { sample::make(&agencies, &host).await }
        }))
}

fn told(finished: usize) -> String {
    if finished == 0 { String::new() } else { format!("finished {finished} dissolutions") }
}

fn dissolve(agencies: &Agencies) -> Flow {
    let agencies = agencies.clone();
    let about = "Deletes an agency with all its members, however many there are. A repeated call resumes where it \
        stopped; for a deleted agency it does nothing.";
    Flow::new("dissolve", about, move |call: FlowCall<Dissolve>| {
        let agencies = agencies.clone();
        async move {
            let caller: Caller = claims(&call.caller)?;
            let agency = agency_id(&call.arguments.agency_id)?;
            let members_removed = dissolution::dissolve(&agencies.as_caller(caller), &agency).await?;
            Ok(Dissolved { members_removed })
        }
    })
    .outcomes(&["Miscounted"])
    // If the caller disconnects, the next call or the job removes the rest.
    .interruptible()
}

fn my_agencies(agencies: &Agencies) -> Flow {
    let agencies = agencies.clone();
    let about = "Lists the caller's agencies with their names and states.";
    Flow::new("myAgencies", about, move |call: FlowCall<MembershipsAfter>| {
        let agencies = agencies.clone();
        async move {
            let caller: Caller = claims(&call.caller)?;
            let person = caller.idpid.clone();
            let page: MembershipPage =
                memberships::page(&agencies.as_caller(caller), &person, call.arguments.cursor).await?;
            Ok(page)
        }
    })
}

fn authorise(agencies: &Agencies) -> Flow {
    let agencies = agencies.clone();
    let about = "Returns whether the caller may act for an agency now. Other services ask this before they act in its \
        name.";
    Flow::new("authorise", about, move |call: FlowCall<Dissolve>| {
        let agencies = agencies.clone();
        async move {
            let caller: Caller = claims(&call.caller)?;
            let agency = agency_id(&call.arguments.agency_id)?;
            let access: Access = access::check(&agencies, &agency, &caller.idpid).await?;
            Ok(access)
        }
    })
}

fn agency_id(text: &str) -> Result<AgencyId, FlowError> {
    AgencyId::new(text).map_err(|wrong| FlowError::Arguments(format!("agencyId: {wrong}")))
}
