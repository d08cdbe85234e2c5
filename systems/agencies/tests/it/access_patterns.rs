//! Each access pattern of the schema document, on every store.

use std::time::Duration;

use keyform::{CallError, Ulid};
use keyform_agencies::model::{
    AddMemberError, AgencyId, AgencyStatus, DeleteAgencyError, RemoveMemberError, UpdateAgencyError, UpdateMemberError,
};
use keyform_scenario::{eventually, on_every_store};

use crate::support::{administrator, checked_members, founded, person, populated, system};

/// Patterns of the document, as the system's page lists them, and their tests.
const PATTERNS: [(&str, &str); 11] = [
    ("1. Create agency", "create_agency"),
    ("1. Update agency", "update_agency"),
    ("1. Delete agency", "delete_agency"),
    ("2. Create member", "create_member"),
    ("2. Update member", "update_member"),
    ("2. Delete member", "delete_member"),
    ("3. Read an agency by id", "read_an_agency_by_id"),
    ("4. List members by agency id", "list_members_by_agency_id"),
    ("5. List all agencies", "list_all_agencies"),
    ("6. List members by `idpid`", "list_members_by_idpid"),
    ("(implied) is a person a member?", "is_a_person_a_member"),
];

#[test]
fn create_agency() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Harbour & Sons").await;
        assert_eq!((agency.name.as_str(), agency.status, agency.members), ("Harbour & Sons", AgencyStatus::Active, 1));
        assert_eq!((&agency.created, agency.created_by.as_str()), (&agency.modified, "ada"));
        let ada = agencies.as_caller(person("ada"));
        assert_eq!(ada.agency_by_id(&agency.agency_id).await.unwrap(), Some(agency.clone()));
        assert!(ada.membership(&agency.agency_id, "ada").await.unwrap().is_some(), "the founder is its first member");
        let nameless = ada.create_agency("").await.unwrap_err();
        assert!(nameless.to_string().contains("name"), "{nameless}");
    });
}

#[test]
fn update_agency() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Old").await;
        let (ada, eve) = (agencies.as_caller(person("ada")), agencies.as_caller(person("eve")));
        scene.clock.advance(Duration::from_secs(60));
        let id = &agency.agency_id;
        let changed = ada.update_agency(id, "New", AgencyStatus::Suspended, agency.version).await.unwrap();
        assert_eq!((changed.name.as_str(), changed.status), ("New", AgencyStatus::Suspended));
        assert_eq!((&changed.created, &changed.created_by), (&agency.created, &agency.created_by));
        assert!(changed.modified > agency.modified);

        let late = ada.update_agency(id, "Lost", AgencyStatus::Active, agency.version).await;
        assert_eq!(late, Err(UpdateAgencyError::Changed), "two editors do not overwrite each other");
        let strange = eve.update_agency(id, "Mine", AgencyStatus::Active, changed.version).await;
        assert_eq!(strange, Err(UpdateAgencyError::Failed(CallError::Forbidden)));
        let nowhere = AgencyId::from(Ulid::fresh());
        let missing = agencies.as_caller(administrator()).update_agency(&nowhere, "New", AgencyStatus::Active, 1).await;
        assert_eq!(missing, Err(UpdateAgencyError::UnknownAgency), "an update brings nothing back");
        assert_eq!(ada.agency_by_id(id).await.unwrap().unwrap().name, "New");
    });
}

#[test]
fn delete_agency() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Short-lived").await;
        let (ada, root) = (agencies.as_caller(person("ada")), agencies.as_caller(administrator()));
        let id = &agency.agency_id;
        assert_eq!(ada.delete_agency(id).await, Err(DeleteAgencyError::Failed(CallError::Forbidden)));
        assert_eq!(root.delete_agency(id).await, Err(DeleteAgencyError::HasMembers));
        ada.remove_member(id, "ada").await.unwrap();
        root.delete_agency(id).await.unwrap();
        assert_eq!(root.agency_by_id(id).await.unwrap(), None);
        assert_eq!(root.delete_agency(id).await, Err(DeleteAgencyError::UnknownAgency));
    });
}

#[test]
fn create_member() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Open").await;
        let (ada, eve) = (agencies.as_caller(person("ada")), agencies.as_caller(person("eve")));
        let id = &agency.agency_id;
        let grace = ada.add_member(id, "grace").await.unwrap();
        assert_eq!((grace.idpid.as_str(), grace.created_by.as_str()), ("grace", "ada"));
        assert_eq!(ada.add_member(id, "grace").await, Err(AddMemberError::AlreadyMember));
        assert_eq!(eve.add_member(id, "eve").await, Err(AddMemberError::Failed(CallError::Forbidden)));
        let nowhere = AgencyId::from(Ulid::fresh());
        let root = agencies.as_caller(administrator());
        assert_eq!(root.add_member(&nowhere, "grace").await, Err(AddMemberError::UnknownAgency));
        assert_eq!(checked_members(&agencies, id).await, 2);

        let seen = agencies.agency_by_id(id).await.unwrap().unwrap();
        ada.update_agency(id, "Closed", AgencyStatus::Closed, seen.version).await.unwrap();
        assert_eq!(ada.add_member(id, "linus").await, Err(AddMemberError::AgencyNotActive));
        assert_eq!(checked_members(&agencies, id).await, 2, "what was refused left nothing behind");
    });
}

#[test]
fn update_member() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Tidy").await;
        let ada = agencies.as_caller(person("ada"));
        let before = ada.add_member(&agency.agency_id, "grace").await.unwrap();
        scene.clock.advance(Duration::from_secs(5));
        let grace = agencies.as_caller(person("grace"));
        let after = grace.update_member(&agency.agency_id, "grace").await.unwrap();
        assert_eq!((&after.created, &after.created_by), (&before.created, &before.created_by));
        assert!(after.modified > before.modified);
        assert_eq!(after.modified_by, "grace");
        let missing = ada.update_member(&agency.agency_id, "nobody").await;
        assert_eq!(missing, Err(UpdateMemberError::NotAMember), "an update makes no member");
    });
}

#[test]
fn delete_member() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Revolving door").await;
        let id = &agency.agency_id;
        let ada = agencies.as_caller(person("ada"));
        ada.add_member(id, "grace").await.unwrap();
        ada.remove_member(id, "grace").await.unwrap();
        assert_eq!(ada.remove_member(id, "grace").await, Err(RemoveMemberError::NotAMember));
        assert_eq!(ada.membership(id, "grace").await.unwrap(), None);
        assert_eq!(checked_members(&agencies, id).await, 1);
        let grace = agencies.as_caller(person("grace"));
        assert_eq!(grace.agency_by_id(id).await, Err(CallError::Forbidden), "at once");
    });
}

#[test]
fn read_an_agency_by_id() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Known").await;
        let read = |who| {
            let agencies = agencies.as_caller(who);
            let id = agency.agency_id.clone();
            async move { agencies.agency_by_id(&id).await }
        };
        assert_eq!(read(person("ada")).await, Ok(Some(agency.clone())));
        assert_eq!(read(administrator()).await, Ok(Some(agency.clone())));
        assert_eq!(read(person("eve")).await, Err(CallError::Forbidden));
        let nowhere = AgencyId::from(Ulid::fresh());
        assert_eq!(agencies.agency_by_id(&nowhere).await, Ok(None));
    });
}

#[test]
fn list_members_by_agency_id() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let (agency, other) = (founded(&scene, &agencies, "Large").await, founded(&scene, &agencies, "Another").await);
        populated(&agencies, &agency.agency_id, 54).await;
        let ada = agencies.as_caller(person("ada"));
        let first = ada.members_of_agency(&agency.agency_id).await.unwrap();
        assert_eq!(first.items.len(), 50);
        let rest = ada.members_of_agency(&agency.agency_id).after(first.cursor.clone().unwrap()).await.unwrap();
        assert_eq!((rest.items.len(), rest.cursor.clone()), (5, None));
        let names: Vec<String> = first.into_iter().chain(rest).map(|member| member.idpid).collect();
        let mut expected: Vec<String> = (0..54).map(|number| format!("p{number:03}")).collect();
        expected.insert(0, "ada".to_owned());
        assert_eq!(names, expected, "each once, in the order of their ids, and not the agency itself");
        assert_eq!(ada.members_of_agency(&other.agency_id).await.unwrap().items.len(), 1);
        let eve = agencies.as_caller(person("eve"));
        assert_eq!(eve.members_of_agency(&agency.agency_id).await.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn list_all_agencies() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let mut founded_ids = Vec::new();
        for number in 0..53 {
            founded_ids.push(founded(&scene, &agencies, &format!("Agency {number}")).await.agency_id);
        }
        let root = agencies.as_caller(administrator());
        eventually(53, async || root.agencies().all().await.unwrap().len()).await;
        let first = root.agencies().await.unwrap();
        assert_eq!(first.items.len(), 50);
        let rest = root.agencies().after(first.cursor.clone().unwrap()).await.unwrap();
        let ids: Vec<AgencyId> = first.into_iter().chain(rest).map(|agency| agency.agency_id).collect();
        assert_eq!(ids, founded_ids, "in the order of their creation, and no members among them");
        let latest = root.latest_agencies().all().await.unwrap();
        let latest: Vec<AgencyId> = latest.into_iter().map(|agency| agency.agency_id).rev().collect();
        assert_eq!(latest, founded_ids);
        let ada = agencies.as_caller(person("ada"));
        assert_eq!(ada.agencies().await.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn list_members_by_idpid() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let mut joined = Vec::new();
        for number in 0..3 {
            let agency = founded(&scene, &agencies, &format!("Agency {number}")).await;
            agencies.as_caller(person("ada")).add_member(&agency.agency_id, "grace").await.unwrap();
            joined.push(agency.agency_id);
        }
        founded(&scene, &agencies, "Without Grace").await;
        let grace = agencies.as_caller(person("grace"));
        eventually(joined.clone(), async || {
            let found = grace.memberships_of("grace").all().await.unwrap();
            found.into_iter().map(|member| member.agency_id).collect()
        })
        .await;
        assert_eq!(grace.memberships_of("ada").await.unwrap_err(), CallError::Forbidden);
        let names = grace.agencies_by_id(&joined).await.unwrap();
        let mut names: Vec<String> = names.into_iter().map(|agency| agency.name).collect();
        names.sort();
        assert_eq!(names, ["Agency 0", "Agency 1", "Agency 2"]);
        assert!(agencies.memberships_of("nobody").all().await.unwrap().is_empty());
    });
}

#[test]
fn is_a_person_a_member() {
    on_every_store(async |scene| {
        let agencies = system(&scene).await;
        let agency = founded(&scene, &agencies, "Guarded").await;
        let id = &agency.agency_id;
        let (ada, eve) = (agencies.as_caller(person("ada")), agencies.as_caller(person("eve")));
        assert!(ada.membership(id, "ada").await.unwrap().is_some());
        assert_eq!(ada.membership(id, "eve").await.unwrap(), None);
        assert_eq!(eve.membership(id, "eve").await.unwrap(), None, "of oneself everybody may ask");
        assert_eq!(eve.membership(id, "ada").await, Err(CallError::Forbidden));
    });
}

#[test]
fn every_pattern_of_the_document_has_its_test() {
    let page = include_str!("../../../../docs/systems/agencies.md");
    let listed: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .filter(|first| {
            first.starts_with(|c: char| c.is_ascii_digit()) && first.contains(". ") || first.starts_with("(implied)")
        })
        .collect();
    let named: Vec<&str> = PATTERNS.iter().map(|(pattern, _)| *pattern).collect();
    assert_eq!(named, listed);
    let source = include_str!("access_patterns.rs");
    for (pattern, test) in PATTERNS {
        assert!(source.contains(&format!("#[test]\nfn {test}() {{")), "{pattern} has no test {test}");
    }
}
