//! Members never exist without their agency, and an agency's count matches its members: with real concurrency,
//! conflicts, lost answers and kills.

use std::sync::Arc;

use keyform::CallError;
use keyform_agencies::dissolution::{DissolutionError, dissolve, finish_all};
use keyform_agencies::model::{AddMemberError, Agencies, AgencyId, RemoveMemberError};
use keyform_scenario::fault::{Contended, Lossy, Mortal};
use keyform_scenario::{Scene, eventually, on_every_store};
use tokio::task::JoinSet;

use crate::support::{administrator, checked_members, founded, handle, populated, system};

/// Returns another instance of the program, with transaction conflicts and lost answers.
fn troubled(scene: &Scene, number: u64) -> Agencies {
    let lossy = Arc::new(Lossy::new(scene.host.store(), 7 + number));
    handle(&scene.through(Arc::new(Contended::new(lossy, 3 + number))))
}

/// Returns whether the call lost to concurrent writers, or its answer was lost.
fn may_be_repeated(error: &CallError) -> bool {
    matches!(error, CallError::Busy | CallError::Unknown(_) | CallError::Store(_))
}

/// Adds people until it is refused; returns the number of people added.
async fn add(agencies: Agencies, agency: AgencyId, who: String, people: usize) -> usize {
    let root = agencies.as_caller(administrator());
    let mut added = 0;
    for number in 0..people {
        loop {
            match root.add_member(&agency, &format!("{who}-{number}")).await {
                Ok(_) => break added += 1,
                // The answer to the previous call was lost; it had been applied.
                Err(AddMemberError::AlreadyMember) => break added += 1,
                Err(AddMemberError::UnknownAgency | AddMemberError::AgencyNotActive) => return added,
                Err(AddMemberError::Conflict(_)) => {}
                Err(AddMemberError::Failed(error)) if may_be_repeated(&error) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    added
}

async fn remove(agencies: Agencies, agency: AgencyId, who: String, people: usize) {
    let root = agencies.as_caller(administrator());
    for number in 0..people {
        loop {
            match root.remove_member(&agency, &format!("{who}-{number}")).await {
                Ok(()) | Err(RemoveMemberError::NotAMember | RemoveMemberError::UnknownAgency) => break,
                Err(RemoveMemberError::Conflict(_)) => {}
                Err(RemoveMemberError::Failed(error)) if may_be_repeated(&error) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn the_count_of_members_is_right_when_many_join_and_leave_at_once() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Busy").await.agency_id;
        let mut tasks = JoinSet::new();
        for number in 0..4 {
            tasks.spawn(add(troubled(&scene, number), agency.clone(), format!("w{number}"), 10));
        }
        while let Some(added) = tasks.join_next().await {
            assert_eq!(added.unwrap(), 10);
        }
        assert_eq!(checked_members(&agencies, &agency).await, 41);
        let mut tasks = JoinSet::new();
        for number in 0..4 {
            // Two tasks at a time remove the same people.
            tasks.spawn(remove(troubled(&scene, number), agency.clone(), format!("w{}", number / 2), 10));
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        assert_eq!(checked_members(&agencies, &agency).await, 21);
    });
}

#[test]
fn nobody_is_left_in_an_agency_that_is_dissolved_while_people_join() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        for round in 0..4 {
            let agency = founded(&scene, &agencies, "Contested").await.agency_id;
            let mut tasks = JoinSet::new();
            for number in 0..3 {
                tasks.spawn(add(troubled(&scene, number), agency.clone(), format!("w{number}"), 12));
            }
            for number in 0..2 {
                tasks.spawn(end(troubled(&scene, number + round), agency.clone()));
            }
            while let Some(done) = tasks.join_next().await {
                done.unwrap();
            }
            assert_eq!(agencies.agency_by_id(&agency).await, Ok(None));
            assert_eq!(checked_members(&agencies, &agency).await, 0);
        }
    });
}

/// Dissolves an agency, with as many retries as necessary.
async fn end(agencies: Agencies, agency: AgencyId) -> usize {
    let root = agencies.as_caller(administrator());
    loop {
        match dissolve(&root, &agency).await {
            Ok(_) => return 0,
            Err(DissolutionError::Busy) => {}
            Err(DissolutionError::Failed(error)) if may_be_repeated(&error) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_dissolution_that_is_killed_after_every_request_is_finished_by_the_next() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Doomed").await.agency_id;
        populated(&agencies, &agency, 119).await;
        let mut requests = 0;
        while agencies.agency_by_id(&agency).await.unwrap().is_some() {
            let mortal = Arc::new(Mortal::new(scene.host.store(), requests));
            let root = handle(&scene.through(mortal)).as_caller(administrator());
            let ended = dissolve(&root, &agency).await;
            assert!(ended.is_err() || agencies.agency_by_id(&agency).await.unwrap().is_none(), "{ended:?}");
            checked_members(&agencies, &agency).await;
            requests += 1;
        }
        assert!(requests > 4, "it was killed a few times: {requests}");
        assert_eq!(checked_members(&agencies, &agency).await, 0);
    });
}

#[test]
fn the_job_goes_on_with_what_a_killed_process_has_begun() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Half gone").await.agency_id;
        populated(&agencies, &agency, 70).await;
        let mortal = Arc::new(Mortal::new(scene.host.store(), 5));
        let root = handle(&scene.through(mortal)).as_caller(administrator());
        assert!(dissolve(&root, &agency).await.is_err());

        let ordered = async || agencies.agencies().all().await.unwrap().iter().any(|one| one.dissolved_by.is_some());
        eventually(true, ordered).await;
        assert_eq!(finish_all(&agencies).await, Ok(1));
        assert_eq!(agencies.agency_by_id(&agency).await, Ok(None));
        assert_eq!(checked_members(&agencies, &agency).await, 0);
    });
}
